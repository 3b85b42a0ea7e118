//===- gemm_timer.cpp - how long a product takes on a GPU -----------------===//

#include "runtime/device/cuda/gemm_timer.h"

#include "runtime/base/half.h"
#include "runtime/base/philox.h"
#include "runtime/program/descriptor.h"

#include <algorithm>
#include <cstring>
#include <vector>

using mtc::runtime::GemmInfo;
using mtc::runtime::Status;

namespace mtc::cuda {
namespace {

/// Of the numbers that are copied over and over; no multiple of a row's.
constexpr int64_t kPatternBytes = 1021 * 1024;

void put(std::byte *to, MtcDtype dtype, float x) {
  const uint16_t half = runtime::roundToHalf(dtype, x);
  if (dtype == MTC_F32)
    std::memcpy(to, &x, sizeof x);
  else
    std::memcpy(to, &half, sizeof half);
}

std::vector<std::byte> patternOf(MtcDtype dtype) {
  std::vector<std::byte> out(kPatternBytes);
  const auto each = static_cast<size_t>(runtime::floatBytes(dtype));
  for (size_t i = 0; (i + 1) * each <= out.size(); ++i) {
    uint32_t word = runtime::philoxWord({.seed = 1}, i);
    put(out.data() + i * each, dtype,
        static_cast<float>(static_cast<int32_t>(word)) * 0x1p-31f);
  }
  return out;
}

} // namespace

GemmTimer::~GemmTimer() {
  (void)driver_.waitStream(stream_);
  for (EventHandle event : events_)
    if (event)
      (void)driver_.destroyEvent(event);
}

Status GemmTimer::open(const GemmInfo &row) {
  const int64_t each = runtime::floatBytes(row.ab),
                result = runtime::floatBytes(row.c);
  const bool hasBias = row.epilogue && row.epilogue->bias,
             hasAux = row.epilogue && row.epilogue->aux;
  const int64_t bytes[] = {
      row.m * row.k * each,         row.k * row.n * each,
      row.m * row.n * result,       row.scratch,
      hasBias ? row.n * result : 0, hasAux ? row.m * row.n * result : 0};
  MTC_RETURN_IF_ERROR(
      memory_.allocate(bytes, "the operands of a product", stream_));
  for (EventHandle &event : events_)
    MTC_RETURN_IF_ERROR(
        driver_.check(driver_.createEvent(&event, 0), "cuEventCreate"));
  MTC_RETURN_IF_ERROR(fill(0, bytes[0], row.ab));
  MTC_RETURN_IF_ERROR(fill(1, bytes[1], row.ab));
  return fill(4, bytes[4], row.c);
}

GemmOperands GemmTimer::operands() const {
  const auto part = [&](size_t i) { return pointerTo(memory_.part(i)); };
  return {part(0), part(1), part(2), part(3), part(4), part(5)};
}

Status GemmTimer::fill(size_t part, int64_t bytes, MtcDtype dtype) {
  const std::vector<std::byte> pattern = patternOf(dtype);
  for (int64_t done = 0; done < bytes; done += kPatternBytes)
    MTC_RETURN_IF_ERROR(driver_.check(
        driver_.copyIn(
            memory_.part(part) + static_cast<Address>(done), pattern.data(),
            static_cast<size_t>(std::min(bytes - done, kPatternBytes)),
            stream_),
        "cuMemcpyHtoDAsync"));
  return driver_.check(driver_.waitStream(stream_), "cuStreamSynchronize");
}

Status GemmTimer::time(BlasHandle handle, const GemmProduct &product,
                       const MatmulAlgo &algorithm, int calls, double &out) {
  const GemmOperands x = operands();
  MTC_RETURN_IF_ERROR(
      driver_.check(driver_.recordEvent(events_[0], stream_), "cuEventRecord"));
  for (int i = 0; i < calls; ++i)
    MTC_RETURN_IF_ERROR(product.issue(handle, algorithm, x, stream_));
  MTC_RETURN_IF_ERROR(
      driver_.check(driver_.recordEvent(events_[1], stream_), "cuEventRecord"));
  MTC_RETURN_IF_ERROR(
      driver_.check(driver_.waitEvent(events_[1]), "cuEventSynchronize"));
  float milliseconds = 0;
  MTC_RETURN_IF_ERROR(
      driver_.check(driver_.elapsed(&milliseconds, events_[0], events_[1]),
                    "cuEventElapsedTime"));
  out = 1e3 * static_cast<double>(milliseconds) / calls;
  return Status::okay();
}

} // namespace mtc::cuda
