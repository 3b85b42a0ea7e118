//===- comm_thread.cpp - a rank's thread of collectives -------------------===//

#include "runtime/device/cpu/comm_thread.h"

#include <fmt/format.h>

#include <new>
#include <system_error>

namespace mtc::runtime {

// More than a fragment issues before it waits; more than these costs one
// allocation.
static constexpr size_t kRoom = 64;

CommThread::CommThread() : ring_(kRoom) {}

CommThread::~CommThread() {
  {
    Lock held(lock_);
    ending_ = true;
    given_.notify_one();
  }
  if (thread_.joinable())
    thread_.join();
}

Status CommThread::start() {
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error &error) {
    return {StatusCode::infeasible,
            fmt::format("cannot start the thread of a rank's collectives: {}; "
                        "check `ulimit -u`, or compile without comm_thread",
                        error.what())};
  }
  return Status::okay();
}

void CommThread::grow() {
  std::vector<Work> larger(2 * ring_.size());
  for (uint64_t n = done_; n != issued_; ++n)
    larger[n % larger.size()] = ring_[n % ring_.size()];
  ring_ = std::move(larger);
}

Status CommThread::collective(const CollectiveCall &call, void *buffer) {
  Lock held(lock_);
  if (issued_ - done_ == ring_.size())
    grow();
  ring_[issued_++ % ring_.size()] = {call, buffer};
  if (idle_) {
    // Said here and not by the thread: until it runs nobody may take the rank
    // for one that waits.
    idle_ = false;
    backend_->threadWakes();
    given_.notify_one();
  }
  return failure_;
}

void CommThread::record(int64_t event, int64_t stream) {
  if (events_.size() <= static_cast<size_t>(event))
    events_.resize(static_cast<size_t>(event) + 1);
  // The calling thread is done with what it was given.
  events_[static_cast<size_t>(event)] = stream == MTC_STREAM_COMM ? issued_ : 0;
}

Status CommThread::wait(int64_t event, int64_t stream) {
  bool isKnown = static_cast<size_t>(event) < events_.size();
  // This queue runs in order, and behind what the calling thread has done.
  if (stream == MTC_STREAM_COMM || !isKnown)
    return Status::okay();
  return waitUntil(events_[static_cast<size_t>(event)]);
}

Status CommThread::finish() { return waitUntil(issued_); }

Status CommThread::waitUntil(uint64_t count) {
  Lock held(lock_);
  if (done_ < count) {
    awaited_ = count;
    backend_->threadSleeps();
    ended_.wait(held, [&] { return done_ >= count; });
  }
  return failure_;
}

void CommThread::traceTo(std::vector<TraceTime> *times) {
  Lock held(lock_);
  times_ = times;
}

void CommThread::perform(const Work &work, Lock &held) {
  if (!failure_.ok())
    return;
  std::vector<TraceTime> *times = times_;
  held.unlock();
  Status status;
  try {
    if (times)
      times->push_back({traceNow(), 0});
    status = backend_->collective(work.call, work.buffer, nullptr);
    if (times)
      times->back().end = traceNow();
  } catch (const std::bad_alloc &) {
    status = {StatusCode::failed,
              "out of memory; check `ulimit -v` and free memory"};
    backend_->abort();
  }
  held.lock();
  failure_ = std::move(status);
}

void CommThread::run() {
  Lock held(lock_);
  for (;;) {
    if (done_ == issued_) {
      if (!idle_)
        backend_->threadSleeps();
      idle_ = true;
      given_.wait(held, [&] { return ending_ || done_ != issued_; });
      if (done_ == issued_)
        return;
    }
    // A copy: the ring may move while the lock is open.
    Work work = ring_[done_ % ring_.size()];
    perform(work, held);
    ++done_;
    if (awaited_ != 0 && done_ >= awaited_) {
      awaited_ = 0;
      backend_->threadWakes();
      ended_.notify_one();
    }
  }
}

} // namespace mtc::runtime
