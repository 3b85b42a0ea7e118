//===- call_thread.cpp - calls that may never return ----------------------===//

#include "runtime/comm/mpi/call_thread.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace mtc::runtime {

struct CallThread::State {
  std::mutex lock; ///< guards all below
  std::condition_variable changed;
  std::function<int()> function;
  std::optional<int> result;
  bool busy = false, ends = false;

  void run() {
    std::unique_lock held(lock);
    for (;;) {
      changed.wait(held, [this] { return function || ends; });
      if (ends)
        return;
      std::function<int()> now = std::move(function);
      function = nullptr;
      held.unlock();
      int found = now();
      held.lock();
      result = found;
      busy = false;
      changed.notify_all();
    }
  }
};

CallThread::CallThread() : state_(std::make_shared<State>()) {
  std::thread([state = state_] { state->run(); }).detach();
}

CallThread::~CallThread() {
  std::lock_guard held(state_->lock);
  state_->ends = true;
  state_->changed.notify_all();
}

std::optional<int> CallThread::call(std::function<int()> function,
                                    std::chrono::milliseconds time,
                                    const std::function<bool()> &stop) {
  constexpr std::chrono::milliseconds kLook{50}; // for `stop`
  auto now = [] { return std::chrono::steady_clock::now(); };
  std::unique_lock held(state_->lock);
  if (state_->busy)
    return std::nullopt;
  state_->busy = true;
  state_->function = std::move(function);
  state_->changed.notify_all();
  for (auto end = now() + time;
       state_->busy && now() < end && !(stop && stop());)
    state_->changed.wait_until(held, std::min(end, now() + kLook));
  return state_->busy ? std::nullopt : state_->result;
}

} // namespace mtc::runtime
