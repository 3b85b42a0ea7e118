//===- cuda_memory.cpp - a rank's arenas on a GPU -------------------------===//

#include "runtime/device/cuda/cuda_memory.h"

#include <fmt/format.h>

using mtc::runtime::Status;

namespace mtc::cuda {

static constexpr int64_t kPage = 4096;

static int64_t roundUp(int64_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

CudaMemory::~CudaMemory() {
  if (base_)
    (void)driver_.free(base_);
}

Status CudaMemory::allocate(std::span<const int64_t> bytes, const char *what,
                            StreamHandle stream) {
  int64_t total = kPage; // the driver aligns small ones to less
  for (int64_t each : bytes)
    total += roundUp(each);
  MTC_RETURN_IF_ERROR(
      driver_.check(driver_.allocate(&base_, static_cast<size_t>(total)),
                    "cuMemAlloc", fmt::format("{} bytes for {}", total, what)));
  Address next = static_cast<Address>(roundUp(static_cast<int64_t>(base_)));
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
