//===- interrupt.h - a compilation that is interrupted ----------*- C++ -*-===//
//
// Machine code of a large stage takes long and cannot be asked to stop. So a
// signal ends the process at once, by a thread that first removes what was
// begun.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_INTERRUPT_H
#define MTC_COMPILER_INTERRUPT_H

#include <string>

namespace mtc::compiler {

/// From now on SIGINT, SIGTERM and SIGHUP (unless ignored) end the process with
/// exit code 11 and a message. For a process that does nothing else.
void watchInterrupts();

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

/// Ends a child process on an interrupt while this lives.
class InterruptedChild {
public:
  explicit InterruptedChild(int pid);
  ~InterruptedChild();
  InterruptedChild(const InterruptedChild &) = delete;
  InterruptedChild &operator=(const InterruptedChild &) = delete;

private:
  int pid_;
};

/// For a child that died of a signal: a terminal sends it to both, and this
/// process may get it later. Does not return when that happens within a second.
void awaitInterrupt();

} // namespace mtc::compiler
#endif // MTC_COMPILER_INTERRUPT_H
