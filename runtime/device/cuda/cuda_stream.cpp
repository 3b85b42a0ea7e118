//===- cuda_stream.cpp - a stream of a GPU --------------------------------===//

#include "runtime/device/cuda/cuda_stream.h"

#include "runtime/device/cuda/cuda_memory.h"

#include <fmt/format.h>

using mtc::runtime::ArenaOffset;
using mtc::runtime::Event;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {

CudaStream::~CudaStream() {
  if (!stream_)
    return;
  (void)driver_.setContext(context_);
  (void)driver_.waitStream(stream_);
  for (EventHandle event : events_)
    if (event)
      (void)driver_.destroyEvent(event);
  (void)driver_.destroyStream(stream_);
}

Status CudaStream::open(Context context) {
  context_ = context;
  MTC_RETURN_IF_ERROR(accept(driver_.setContext(context), "cuCtxSetCurrent"));
  MTC_RETURN_IF_ERROR(accept(driver_.createStream(&stream_, kNonBlockingStream),
                             "cuStreamCreate"));
  for (EventHandle &event : events_)
    MTC_RETURN_IF_ERROR(
        accept(driver_.createEvent(&event, kNoTiming), "cuEventCreate"));
  return Status::okay();
}

void CudaStream::fail(Status status) {
  if (failure_.ok())
    failure_ = std::move(status);
}

Status CudaStream::accept(Result result, const char *call,
                          const std::string &what) {
  if (result != 0)
    fail(driver_.check(result, call, what));
  return failure_;
}

Address CudaStream::find(ArenaOffset at, int64_t bytes) {
  const runtime::ArenaView &arena = arenas_[at.arena];
  if (bytes < 0 || at.offset < 0 || bytes > arena.bytes ||
      at.offset > arena.bytes - bytes)
    fail({StatusCode::internal,
          fmt::format("expected a range inside the {} bytes of the arena {}, "
                      "found {} bytes at offset {}",
                      arena.bytes, kArenas[at.arena].name, bytes, at.offset)});
  return addressOf(arena.base) + static_cast<Address>(at.offset);
}

Status CudaStream::copyIn(ArenaOffset to, const void *from, int64_t bytes) {
  Address address = find(to, bytes);
  if (failed() || bytes == 0)
    return failure_;
  return accept(
      driver_.copyIn(address, from, static_cast<size_t>(bytes), stream_),
      "cuMemcpyHtoDAsync");
}

Status CudaStream::copyOut(ArenaOffset from, void *to, int64_t bytes) {
  Address address = find(from, bytes);
  if (failed() || bytes == 0)
    return failure_;
  return accept(
      driver_.copyOut(to, address, static_cast<size_t>(bytes), stream_),
      "cuMemcpyDtoHAsync");
}

Status CudaStream::fill(ArenaOffset to, uint8_t byte, int64_t bytes) {
  Address address = find(to, bytes);
  if (failed() || bytes == 0)
    return failure_;
  return accept(
      driver_.fill(address, byte, static_cast<size_t>(bytes), stream_),
      "cuMemsetD8Async");
}

Status CudaStream::launch(MtcFragment fragment, MtcContext *context,
                          const MtcStep *row) {
  if (!failed())
    fragment(context, row);
  return failure_;
}

Event CudaStream::record() {
  uint64_t position = ++recorded_;
  (void)accept(driver_.recordEvent(events_[position % events_.size()], stream_),
               "cuEventRecord");
  return {position};
}

Status CudaStream::wait(Event event) {
  if (event.position == 0)
    return failure_;
  if (failed()) {
    // Copies that were issued before may still use the host's memory.
    (void)driver_.waitStream(stream_);
    return failure_;
  }
  return accept(driver_.waitEvent(events_[event.position % events_.size()]),
                "cuEventSynchronize");
}

} // namespace mtc::cuda
