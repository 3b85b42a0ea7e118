//===- signals.h - a polite end, or a checkpoint, by signals ----*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_SIGNALS_H
#define MTC_RUNTIME_CONTROL_SIGNALS_H

#include <atomic>
#include <csignal>

namespace mtc::runtime {

/// While it lives, SIGINT, SIGTERM and SIGHUP, unless ignored, are counted
/// instead of ending the process, SIGUSR1 is counted apart, and SIGPIPE is
/// ignored (a write then fails, which is handled). The old handlers come back
/// afterwards. At most one at a time. Signals that were blocked until now (a
/// rank's, from its start on) are let in.
class SignalWatch {
public:
  /// With `once`, the second signal has its default effect: the process ends.
  explicit SignalWatch(bool once);
  ~SignalWatch();
  SignalWatch(const SignalWatch &) = delete;
  SignalWatch &operator=(const SignalWatch &) = delete;

  /// Handlers stay behind its life, until the process ends: that does no more
  /// than end, with a code of its own, and a late signal must not change that
  /// code, nor a system call that waits. Of many, which somebody sends who
  /// waits for the end in vain, kMostLate do nothing; the next has its default
  /// effect.
  static constexpr int kMostLate = 3;
  void keep() { kept_ = true; }

  int count() const;                     ///< those that stop, so far
  const std::atomic<bool> &stop() const; ///< true after the first
  const std::atomic<int> &saves() const; ///< times that SIGUSR1 came

private:
  bool kept_ = false;
};

/// While it lives, those signals are blocked in this thread. A process that is
/// forked meanwhile keeps them so, and what it executes: they wait for a
/// SignalWatch. Blocked behind the fork, one that comes first would be counted
/// by the copy of a handler, and lost.
class BlockedSignals {
public:
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals &) = delete;
  BlockedSignals &operator=(const BlockedSignals &) = delete;

private:
  sigset_t before_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_SIGNALS_H
