//===- background_write.h - work on files beside training -------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_BACKGROUND_WRITE_H
#define MTC_RUNTIME_TRAIN_BACKGROUND_WRITE_H

#include "runtime/base/status.h"

#include <functional>
#include <memory>

namespace mtc::runtime {

/// One piece of work at a time on a thread of its own, which takes no signals.
/// The thread of a destroyed object goes on alone, so that a run that fails
/// does not wait for its disk: the work owns all that it touches.
class BackgroundWrite {
public:
  BackgroundWrite() = default;
  ~BackgroundWrite();
  BackgroundWrite(const BackgroundWrite &) = delete;
  BackgroundWrite &operator=(const BackgroundWrite &) = delete;

  /// Nothing may be in progress. Where no thread can be started, the work is
  /// done here.
  void start(std::function<Status()> work);
  bool inProgress() const { return state_ != nullptr; }
  bool done() const; ///< what is in progress; wait() returns at once
  /// Waits for what is in progress; how it ended.
  Status wait();

private:
  struct State;
  std::shared_ptr<State> state_; ///< null: nothing is in progress
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_BACKGROUND_WRITE_H
