//===- status.h - errors of the runtime as values ---------------*- C++ -*-===//
//
// No library function exits or throws across its boundary: it returns a Status,
// and the tool turns the code into the process's exit code.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_STATUS_H
#define MTC_RUNTIME_STATUS_H

#include <string>
#include <utility>

namespace mtc::runtime {

/// Exit codes of the tools, too (`mtc help exit-codes`).
enum class StatusCode : int {
  ok = 0,
  failed = 1,         ///< any other failure
  usage = 2,          ///< usage or configuration
  inputRejected = 3,  ///< an input file is corrupt, unsupported or too short
  infeasible = 4,     ///< a plan that cannot be: memory, divisibility
  internal = 5,       ///< a bug
  stoppedSaved = 9,   ///< stopped early, with a checkpoint to continue from
  differ = 10,        ///< two plans that were compared differ
  interrupted = 11,   ///< stopped by a signal
  peerDied = 12,      ///< another rank died
  hang = 13,          ///< a watchdog ran out, or a deadlock was detected
  communication = 14, ///< members of a group disagree, or a transfer mismatched
  nonFinite = 15,     ///< a loss or norm that is not finite
  writeFailed = 18,   ///< disk full and the like
  noneWhole = 19,     ///< there are checkpoints, and none of them is whole
  gpuFailed = 20,     ///< a GPU or a kernel on it failed while it ran
};

/// A code and a message for people: what was expected, what was found, what to
/// do. Lower case, no full stop.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : code_(code), message_(std::move(message)) {}
  static Status okay() { return {}; }
  bool ok() const { return code_ == StatusCode::ok; }
  StatusCode code() const { return code_; }
  const std::string &message() const { return message_; }

private:
  StatusCode code_ = StatusCode::ok;
  std::string message_;
};

/// Returns the Status of `expr` from the enclosing function unless it is ok.
#define MTC_RETURN_IF_ERROR(expr)                                              \
  do {                                                                         \
    if (::mtc::runtime::Status status_ = (expr); !status_.ok())                \
      return status_;                                                          \
  } while (false)

} // namespace mtc::runtime
#endif // MTC_RUNTIME_STATUS_H
