//===- zero.cuh - zeroes bytes ----------------------------------*- C++ -*-===//
//
// A kernel, because nodes of graphs that set memory are slower than those of
// kernels, and cost the host of each launch (docs/h100.md).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_NORM_ZERO_CUH
#define MTC_RUNTIME_CUDA_NORM_ZERO_CUH

#include "runtime/cuda/common/device.cuh"

namespace mtc::cuda {

/// p[0, bytes), 16 bytes at a time where that is aligned; the bytes before and
/// behind, fewer than 16 each, by one thread each. Blocks have over 32 threads.
MTC_DEVICE void zero(uint8_t *p, int64_t bytes) {
  auto before = int((16 - reinterpret_cast<uintptr_t>(p) % 16) % 16);
  int64_t head = min(int64_t(before), bytes);
  int64_t vectors = (bytes - head) / 16, behind = head + 16 * vectors;
  int64_t at = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at == 0 || at == 32) {
    int64_t end = at == 0 ? head : bytes;
#pragma unroll 1
    for (int64_t i = at == 0 ? 0 : behind; i < end; ++i)
      p[i] = 0;
  }
  auto *first = reinterpret_cast<uint4 *>(p + head);
  for (; at < vectors; at += int64_t(gridDim.x) * blockDim.x)
    first[at] = uint4{};
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_NORM_ZERO_CUH
