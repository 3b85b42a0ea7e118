//===- diagnostics.h - what is wrong with an input --------------*- C++ -*-===//
//
// Readers report everything they find, not the first error only: they return a
// value together with a list of diagnostics. The tool prints them all and exits
// with the code of the first.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_MODELS_DIAGNOSTICS_H
#define MTC_MODELS_DIAGNOSTICS_H

#include <string>
#include <vector>

namespace mtc::models {

/// The exit code that a tool ends with; numbers are those of the runtime.
enum class ErrorClass : int {
  usage = 2,         ///< the content of a spec, a strategy or an option
  inputRejected = 3, ///< a file that cannot be read
  infeasible = 4,    ///< a model and a strategy that do not fit each other
};

/// One error. `message` is lower case without full stop and says what was
/// expected, what was found and what to do.
struct Diagnostic {
  ErrorClass errorClass = ErrorClass::usage;
  std::string where; ///< a file or an option (`--tp`); empty if neither
  int line = 0;      ///< 1 for the first line of a file; 0: no line
  std::string message;
};

using Diagnostics = std::vector<Diagnostic>;

/// A choice that is read and not built yet: its key, with the tables around it
/// ("shard.ffn"), and a sentence with what to write instead.
struct Unbuilt {
  std::string key, what;
};

/// A value and what was wrong with its source. The value may be used only if
/// `ok()`; else it holds defaults where the source was wrong.
template <typename T> struct Parsed {
  T value;
  Diagnostics diagnostics;
  bool ok() const { return diagnostics.empty(); }
};

/// `where:line: message`, leaving out what is not known.
std::string render(const Diagnostic &diagnostic);

/// All diagnostics, a line each, each line ended.
std::string render(const Diagnostics &diagnostics);

/// The exit code: 0 if there are none, else that of the most basic error (an
/// unreadable file before bad content before an infeasible plan).
int exitCode(const Diagnostics &diagnostics);

/// Orders by line; errors of one line keep their order.
void sortByLine(Diagnostics &diagnostics);

/// What a path that is there is, if no regular file: "a folder", "a pipe
/// (FIFO)", "a device". Reading of it may never end.
std::string specialKind(const std::string &path);

/// More than a spec or a strategy needs.
inline constexpr int64_t kTextMebibytes = 1;

/// The content of a file, or one diagnostic of class inputRejected. What is no
/// regular file, or longer than so many MiB, is rejected.
Parsed<std::string> readTextFile(const std::string &path,
                                 int64_t mebibytes = kTextMebibytes);

} // namespace mtc::models
#endif // MTC_MODELS_DIAGNOSTICS_H
