//===- cuda_stream.cpp - a stream of a GPU --------------------------------===//

#include "runtime/device/cuda/cuda_stream.h"

#include "runtime/device/cuda/cuda_memory.h"

#include <algorithm>
#include <chrono>
#include <thread>

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

Status CudaStream::copyWithin(ArenaOffset to, const void *from, int64_t bytes) {
  Address address = find(to, bytes);
  if (failed() || bytes == 0)
    return failure_;
  return accept(driver_.copyWithin(address, addressOf(from),
                                   static_cast<size_t>(bytes), stream_),
                "cuMemcpyDtoDAsync");
}

bool CudaStream::isPinned(const void *memory) const {
  auto *at = static_cast<const std::byte *>(memory);
  std::less<> before;
  return std::ranges::any_of(pinned_, [&](std::span<const std::byte> each) {
    return !before(at, each.data()) && before(at, each.data() + each.size());
  });
}

Status CudaStream::copyOut(ArenaOffset from, void *to, int64_t bytes) {
  Address address = find(from, bytes);
  if (failed() || bytes == 0)
    return failure_;
  // To memory that is not pinned, the driver returns when it is done.
  if (look_ && !isPinned(to))
    MTC_RETURN_IF_ERROR(wait(record()));
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
    if (look_)
      (void)look_(/*failed=*/true);
    (void)driver_.waitStream(stream_);
    return failure_;
  }
  return await(events_[event.position % events_.size()]);
}

/// Where ranks wait for each other on the GPU, one that is gone would be waited
/// for without end.
Status CudaStream::await(EventHandle event) {
  if (!look_)
    return accept(driver_.waitEvent(event), "cuEventSynchronize");
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kEager{500}, kLook{2500}, kPause{50};
  Clock::time_point begin = Clock::now(), look = begin + kEager;
  for (;;) {
    Result result = driver_.queryEvent(event);
    if (result != kNotReady)
      return accept(result, "cuEventQuery");
    Clock::time_point now = Clock::now();
    if (now < begin + kEager)
      continue;
    if (now >= look) {
      if (Status reason = look_(/*failed=*/false); !reason.ok()) {
        fail(std::move(reason));
        return failure_;
      }
      look = now + kLook;
    }
    std::this_thread::sleep_for(kPause);
  }
}

} // namespace mtc::cuda
