//===- registered.cpp - memory that a communicator knows ------------------===//
#include "test/cuda/nccl/registered.h"

#include <algorithm>

namespace mtc::standin::nccl {

void *Registered::add(CUdeviceptr from, size_t bytes) {
  std::lock_guard lock(mutex);
  ranges[++given] = {from, bytes};
  return reinterpret_cast<void *>(given);
}

bool Registered::remove(void *handle) {
  std::lock_guard lock(mutex);
  return ranges.erase(reinterpret_cast<uintptr_t>(handle)) > 0;
}

std::optional<int64_t> Registered::find(CUdeviceptr from, size_t bytes) const {
  std::lock_guard lock(mutex);
  for (const auto &[handle, range] : ranges)
    if (from >= range.from && from + bytes <= range.from + range.bytes)
      return int64_t(from - range.from);
  return std::nullopt;
}

bool Registered::touches(CUdeviceptr from, size_t bytes) const {
  std::lock_guard lock(mutex);
  return std::ranges::any_of(ranges, [&](const auto &each) {
    const Range &range = each.second;
    return from < range.from + range.bytes && range.from < from + bytes;
  });
}

} // namespace mtc::standin::nccl
