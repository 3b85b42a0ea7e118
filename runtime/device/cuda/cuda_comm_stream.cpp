//===- cuda_comm_stream.cpp - collectives beside fragments ----------------===//

#include "runtime/device/cuda/cuda_comm_stream.h"

using mtc::runtime::Status;
using mtc::runtime::TraceTime;

namespace mtc::cuda {

CudaCommStream::~CudaCommStream() {
  if (!stream_)
    return;
  (void)driver_.waitStream(stream_);
  for (EventHandle event : events_)
    if (event)
      (void)driver_.destroyEvent(event);
  if (between_)
    (void)driver_.destroyEvent(between_);
  (void)driver_.destroyStream(stream_);
}

Status CudaCommStream::open() {
  int least = 0, greatest = 0;
  MTC_RETURN_IF_ERROR(driver_.check(driver_.streamPriorities(&least, &greatest),
                                    "cuCtxGetStreamPriorityRange"));
  MTC_RETURN_IF_ERROR(driver_.check(driver_.createEvent(&between_, kNoTiming),
                                    "cuEventCreate"));
  return driver_.check(
      driver_.createPriorityStream(&stream_, kNonBlockingStream, greatest),
      "cuStreamCreateWithPriority");
}

Status CudaCommStream::follow(StreamHandle earlier, StreamHandle later) {
  MTC_RETURN_IF_ERROR(
      compute_.accept(driver_.recordEvent(between_, earlier), "cuEventRecord"));
  return compute_.accept(driver_.waitInStream(later, between_, 0),
                         "cuStreamWaitEvent");
}

Status CudaCommStream::beginKept() {
  graph_ = ++graphsBegun_;
  return follow(compute_.handle(), stream_);
}

void CudaCommStream::endKept() {
  // Also of streams that failed: a fork that is not joined is an error more.
  (void)driver_.recordEvent(between_, stream_);
  (void)driver_.waitInStream(compute_.handle(), between_, 0);
  graph_ = 0;
}

Status CudaCommStream::collective(const runtime::CollectiveCall &call,
                                  void *buffer) {
  TraceTime time{runtime::traceNow(), 0};
  Status status = nccl_.collectiveOn(stream_, call, buffer);
  time.end = runtime::traceNow();
  if (times_)
    times_->push_back(time);
  return status;
}

void CudaCommStream::record(int64_t event, int64_t stream) {
  const auto number = static_cast<size_t>(event);
  if (events_.size() <= number)
    events_.resize(number + 1), graphs_.resize(number + 1);
  if (!events_[number] &&
      !compute_
           .accept(driver_.createEvent(&events_[number], kNoTiming),
                   "cuEventCreate")
           .ok())
    return;
  (void)compute_.accept(driver_.recordEvent(events_[number], handleOf(stream)),
                        "cuEventRecord");
  graphs_[number] = graph_;
}

Status CudaCommStream::wait(int64_t event, int64_t stream) {
  const auto number = static_cast<size_t>(event);
  if (number >= events_.size() || !events_[number])
    return compute_.failure();
  if (graphs_[number] == graph_)
    return compute_.accept(
        driver_.waitInStream(handleOf(stream), events_[number], 0),
        "cuStreamWaitEvent");
  // A graph is behind all that was before it. What is in none is behind a graph
  // that was launched, on the stream of fragments, and so is what follows that.
  if (graph_ || stream == MTC_STREAM_COMPUTE)
    return compute_.failure();
  return follow(compute_.handle(), stream_);
}

Status CudaCommStream::finish() {
  if (nccl_.aborted())
    nccl_.end();
  return compute_.accept(driver_.waitStream(stream_), "cuStreamSynchronize");
}

} // namespace mtc::cuda
