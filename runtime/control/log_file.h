//===- log_file.h - the file of a run's log ---------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_LOG_FILE_H
#define MTC_RUNTIME_CONTROL_LOG_FILE_H

#include "runtime/control/file_lock.h"

#include <functional>

namespace mtc::runtime {

/// The log of one run, open and locked. Made by the launcher; the rank that
/// logs inherits the descriptor.
class LogFile {
public:
  LogFile() = default;
  LogFile(const LogFile &) = delete;
  LogFile &operator=(const LogFile &) = delete;
  ~LogFile();

  /// A file that has something is kept as `path`.1, .2, ...: the first name
  /// that is free and not `taken`, told on standard error. With `append` it is
  /// continued, if its last line is one of ours; half of one, of a run that was
  /// killed, is removed and told. A pipe or a device is written as it is.
  /// Errors: writeFailed; usage, when another run writes it.
  Status open(const std::string &path, bool append,
              const std::function<bool(const std::string &)> &taken);

  /// The lines of this run are those behind so many bytes: of a run that other
  /// processes began.
  void beginsAt(int64_t bytes) { start_ = bytes; }
  /// Removes the lines that this run wrote of later steps, and half a line at
  /// the end. What is no regular file keeps its lines. Errors: writeFailed.
  Status cutBehind(int64_t step);

  /// Whether it is a file that nobody else writes.
  bool isLocked() const { return lock_.fd() >= 0; }
  int fd() const { return fd_; } ///< this object's, at the file's end; -1: none

private:
  Status openRegular(const std::string &path, bool append,
                     const std::function<bool(const std::string &)> &taken);
  FileLock lock_;
  int fd_ = -1;
  std::string path_;
  int64_t start_ = 0; ///< bytes before the lines of this run
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_LOG_FILE_H
