//===- guarded_stream.cpp - a queue that runs late ------------------------===//

#include "runtime/device/guarded/guarded_stream.h"

namespace mtc::runtime {

Status GuardedStream::issue(Work work) {
  if (running_)
    return work();
  queue_.push_back(std::move(work));
  ++issued_;
  return failure_;
}

Status GuardedStream::runNext() {
  Work work = std::move(queue_.front());
  queue_.pop_front();
  ++done_;
  if (!failure_.ok())
    return failure_;
  MTC_RETURN_IF_ERROR(guard_.open());
  running_ = true;
  Status status = work();
  running_ = false;
  MTC_RETURN_IF_ERROR(guard_.close());
  return status;
}

Status GuardedStream::wait(Event event) {
  while (done_ < event.position)
    if (Status status = runNext(); failure_.ok())
      failure_ = std::move(status);
  return failure_;
}

Status GuardedStream::copyIn(ArenaOffset to, const void *from, int64_t bytes) {
  return issue([=, this] { return inner_.copyIn(to, from, bytes); });
}

Status GuardedStream::copyOut(ArenaOffset from, void *to, int64_t bytes) {
  return issue([=, this] { return inner_.copyOut(from, to, bytes); });
}

Status GuardedStream::fill(ArenaOffset to, uint8_t byte, int64_t bytes) {
  return issue([=, this] { return inner_.fill(to, byte, bytes); });
}

Status GuardedStream::launch(MtcFragment fragment, MtcContext *context,
                             const MtcStep *row) {
  return issue([=, this] {
    MTC_RETURN_IF_ERROR(inner_.launch(fragment, context, row));
    // The rank has the text; the stream only stops.
    return context->status == 0
               ? Status::okay()
               : Status(static_cast<StatusCode>(context->status),
                        "a fragment failed");
  });
}

} // namespace mtc::runtime
