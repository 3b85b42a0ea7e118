//===- output_folder.h - a bundle appears whole or not at all ---*- C++ -*-===//
#ifndef MTC_COMPILER_OUTPUT_FOLDER_H
#define MTC_COMPILER_OUTPUT_FOLDER_H

#include "compiler/interrupt.h"
#include "runtime/base/file.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mtc::compiler {

/// A file in a folder that is not finished: nobody's backup has it.
inline constexpr const char *kUnfinishedMark = "mtc-unfinished";

/// Exchanges two names in one step. 0, or another number and errno.
using Exchange = int (*)(const char *one, const char *other);
int exchangeNames(const char *one, const char *other);

/// A folder under a temporary name beside its final place. The destructor
/// removes it unless `commit` succeeded.
class OutputFolder {
public:
  /// Tests have other exchanges, such as that of a file system without one.
  explicit OutputFolder(Exchange exchange = exchangeNames)
      : exchange_(exchange) {}
  OutputFolder(const OutputFolder &) = delete;
  OutputFolder &operator=(const OutputFolder &) = delete;
  ~OutputFolder();

  /// `path` must be new, an empty folder, or an earlier bundle (a folder with
  /// nothing but what a bundle has), which commit replaces. Errors: usage if it
  /// is something else, writeFailed. Removes what compilations to the same path
  /// left that were killed: temporary folders with the mark of unfinished work
  /// and nothing but what a bundle has, that nobody locks or touched for a
  /// minute.
  runtime::Status create(const std::string &path);
  /// Where to write now.
  const std::string &folder() const { return temporary_; }
  /// Moves the folder to its place: in one step, which leaves no moment without
  /// a bundle, or in two where the file system has no exchange. An earlier
  /// bundle is removed behind it, and stays whole if that fails. It waits for
  /// no disk: what a loss of power damages is compiled again. Errors:
  /// writeFailed.
  runtime::Status commit();

private:
  /// Both leave the earlier bundle under the temporary name.
  runtime::Status replace();
  runtime::Status replaceByTurns();

  Exchange exchange_;
  std::string path_, temporary_;
  int lock_ = -1; ///< of the temporary folder; ends with this process
  std::optional<TemporaryPath> onInterrupt_;
};

/// A file that appears whole or not at all (AtomicFile), with the folders above
/// it. A device or a pipe is written in place. Errors: writeFailed; the first
/// one is that of every later call.
class WholeFile {
public:
  WholeFile(std::string path, runtime::NameSync sync)
      : path_(std::move(path)), sync_(sync) {}
  WholeFile(const WholeFile &) = delete;
  WholeFile &operator=(const WholeFile &) = delete;
  ~WholeFile();

  runtime::Status write(std::string_view bytes);
  runtime::Status commit();

private:
  runtime::Status open();
  runtime::Status failed();

  std::string path_;
  runtime::NameSync sync_;
  bool open_ = false;
  int inPlace_ = -1; ///< of a device or a pipe
  runtime::AtomicFile file_;
  int64_t size_ = 0;
  runtime::Status status_;
};

/// Writes one file, which appears whole or not at all, and the folders above
/// it; what is quickly made again waits for no disk. Errors: writeFailed.
runtime::Status writeFile(const std::string &path, const std::string &text,
                          runtime::NameSync sync = runtime::NameSync::nobody);

} // namespace mtc::compiler
#endif // MTC_COMPILER_OUTPUT_FOLDER_H
