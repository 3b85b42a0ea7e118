//===- background_write.cpp - work on files beside training ---------------===//

#include "runtime/train/background_write.h"

#include <atomic>
#include <csignal>
#include <new>
#include <system_error>
#include <thread>

namespace mtc::runtime {

struct BackgroundWrite::State {
  std::function<Status()> work;
  std::thread thread;
  std::atomic<bool> done{false};
  Status status;

  void run() {
    try {
      status = work();
    } catch (const std::bad_alloc &) {
      status = {StatusCode::writeFailed, "out of memory while it was written"};
    }
    done.store(true, std::memory_order_release);
  }
};

namespace {

/// Signals are for the threads of the run: a write is not interrupted.
class NoSignals {
public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
  sigset_t before_;
};

} // namespace

BackgroundWrite::~BackgroundWrite() {
  if (state_ && state_->thread.joinable())
    state_->thread.detach();
}

void BackgroundWrite::start(std::function<Status()> work) {
  state_ = std::make_shared<State>();
  state_->work = std::move(work);
  NoSignals scope;
  try {
    // A copy of the pointer: the state lives as long as the thread.
    state_->thread = std::thread([state = state_] { state->run(); });
  } catch (const std::system_error &) {
    state_->run();
  }
}

bool BackgroundWrite::done() const {
  return state_ && state_->done.load(std::memory_order_acquire);
}

Status BackgroundWrite::wait() {
  if (!state_)
    return Status::okay();
  if (state_->thread.joinable())
    state_->thread.join();
  Status status = state_->status;
  state_ = nullptr;
  return status;
}

} // namespace mtc::runtime
