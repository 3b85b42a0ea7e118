//===- cuda_memory.cpp - a rank's arenas on a GPU -------------------------===//

#include "runtime/device/cuda/cuda_memory.h"

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {

static constexpr int64_t kPage = 4096;
/// In multiples of which NCCL maps memory (2.28.9 on an H100; earlier versions
/// in larger ones). It registers what a graph touches by all of the mapping, so
/// that is what communicators are to know.
static constexpr int64_t kMapped = int64_t(2) << 20;

static int64_t roundUp(int64_t bytes, int64_t unit = kPage) {
  return (bytes + unit - 1) / unit * unit;
}

/// The first place in a block where a part may begin.
static Address firstPart(Address base) {
  return static_cast<Address>(roundUp(static_cast<int64_t>(base)));
}

CudaMemory::~CudaMemory() {
  if (base_ && nccl_)
    (void)nccl_->free(pointerTo(base_));
  else if (base_)
    (void)driver_.free(base_);
}

Status CudaMemory::allocateBlock(int64_t bytes, const char *what) {
  if (nccl_)
    bytes = roundUp(bytes, kMapped);
  bytes_ = bytes;
  if (!nccl_)
    return driver_.check(driver_.allocate(&base_, static_cast<size_t>(bytes)),
                         "cuMemAlloc",
                         fmt::format("{} bytes for {}", bytes, what));
  void *block = nullptr;
  Status status = nccl_->check(
      nccl_->allocate(&block, static_cast<size_t>(bytes)), "ncclMemAlloc");
  base_ = addressOf(block);
  if (status.ok())
    return status;
  return {StatusCode::infeasible,
          fmt::format("{} ({} bytes for {})", status.message(), bytes, what)};
}

std::span<std::byte> CudaMemory::all() const {
  const Address first = firstPart(base_); // which NCCL's blocks begin with
  return {static_cast<std::byte *>(pointerTo(first)),
          static_cast<size_t>(base_ + static_cast<Address>(bytes_) - first)};
}

Status CudaMemory::allocate(std::span<const int64_t> bytes, const char *what,
                            StreamHandle stream) {
  int64_t total = kPage; // the driver aligns small ones to less
  for (int64_t each : bytes)
    total += roundUp(each);
  MTC_RETURN_IF_ERROR(allocateBlock(total, what));
  Address next = firstPart(base_);
  for (int64_t each : bytes) {
    parts_.push_back(each ? next : 0);
    if (each)
      MTC_RETURN_IF_ERROR(driver_.check(
          driver_.fill(next, 0, static_cast<size_t>(each), stream),
          "cuMemsetD8Async"));
    next += static_cast<Address>(roundUp(each));
  }
  return Status::okay();
}

} // namespace mtc::cuda
