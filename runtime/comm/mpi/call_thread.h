//===- call_thread.h - calls that may never return --------------*- C++ -*-===//
#ifndef MTC_RUNTIME_COMM_MPI_CALL_THREAD_H
#define MTC_RUNTIME_COMM_MPI_CALL_THREAD_H

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace mtc::runtime {

/// One thread that makes calls of a foreign library one after the other, for
/// those that have no time limit and cannot be ended from outside. Used by one
/// other thread.
class CallThread {
public:
  CallThread();
  /// A call that has not returned is left alone, with its thread.
  ~CallThread();
  CallThread(const CallThread &) = delete;
  CallThread &operator=(const CallThread &) = delete;

  /// What `function` returned. None: it did not within `time`, or before `stop`
  /// (null: nothing), which is asked every 50 ms, was true; it may go on, so it
  /// must own what it touches, and no further call is made.
  std::optional<int> call(std::function<int()> function,
                          std::chrono::milliseconds time,
                          const std::function<bool()> &stop);

private:
  struct State;
  std::shared_ptr<State> state_; ///< the thread's, too
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_COMM_MPI_CALL_THREAD_H
