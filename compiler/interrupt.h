//===- interrupt.h - a compilation that is interrupted ----------*- C++ -*-===//
//
// Machine code of a large stage takes long and cannot be asked to stop. So a
// signal ends the process at once, by a thread that first removes what was
// begun.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_INTERRUPT_H
#define MTC_COMPILER_INTERRUPT_H

#include "runtime/base/status.h"

#include <string>

namespace mtc::compiler {

/// From now on SIGINT, SIGTERM and SIGHUP (unless ignored) end the process with
/// exit code 11 and a message. For a process that does nothing else.
void watchInterrupts();

/// Removes what was begun, temporary files as well, and ends the process with a
/// message: for errors that nothing can return. Other threads may still be
/// working; the first one to call this ends the process, others wait for it.
/// Called from within itself, it ends the process as it was to end.
[[noreturn]] void endProcess(const char *message, runtime::StatusCode code);

/// In a copy of this process: what was begun is the other's.
void forgetBegun();

/// Ends a process of ours on an interrupt while this lives, before anything is
/// removed that it may be writing.
class EndsWithUs {
public:
  explicit EndsWithUs(int process);
  ~EndsWithUs();
  EndsWithUs(const EndsWithUs &) = delete;
  EndsWithUs &operator=(const EndsWithUs &) = delete;

private:
  int process_;
};

/// Removes a file or a folder on an interrupt while this lives.
class TemporaryPath {
public:
  explicit TemporaryPath(std::string path);
  ~TemporaryPath();
  TemporaryPath(const TemporaryPath &) = delete;
  TemporaryPath &operator=(const TemporaryPath &) = delete;

private:
  std::string path_;
};

} // namespace mtc::compiler
#endif // MTC_COMPILER_INTERRUPT_H
