//===- norm_params.h - how the kernels of the norm are called ---*- C++ -*-===//
//
// Shared by the kernels and by hosts that launch them: plain C++, no CUDA. The
// functions of abi.h without `cuda_` in their names say what each does. Entries
// and their parameters, by value, in this order:
//
//   mtc_cuda_step_begin            state
//   mtc_cuda_move_on               state, int64 samples, int64 repeats
//   mtc_cuda_take                  state, to, from, int64 bytes, int64 stride
//   mtc_cuda_norm_reset            norm
//   mtc_cuda_norm_accumulate_TYPE  norm, g, int64 count  (f32, bf16, f16)
//   mtc_cuda_norm_check            norm, x of fp32, int64 count
//   mtc_cuda_norm_to_limbs         norm, limbs
//   mtc_cuda_norm_from_limbs       norm, limbs
//   mtc_cuda_norm_finish           state
//   mtc_cuda_zero                  p, int64 bytes, asked
//
// `state` is an MtcStepState in device memory, `norm` its member of that name,
// `limbs` kNormLimbs integers of 64 bits. g and x are aligned as their elements
// are, p need not be; none of them meets the state. `asked` is null, or a
// member of the state: where it is 0, nothing is zeroed. What mtc_cuda_take
// copies has words of 4 bytes at aligned addresses. A count may be 0.
// Blocks have kNormThreads threads, no dynamic shared memory. Any number of
// blocks gives the same bits: the sum is exact.
//
// For the sum over ranks: to_limbs, an all-reduce that adds kNormLimbs integers
// of 64 bits, signed or not, over at most 2^31 ranks, and from_limbs.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_NORM_NORM_PARAMS_H
#define MTC_RUNTIME_CUDA_NORM_NORM_PARAMS_H

#include <algorithm>
#include <cstdint>

namespace mtc::cuda {

/// Threads of a block of every entry, along x.
inline constexpr int kNormThreads = 256;

/// Integers of 64 bits that stand for a sum where ranks add them: its words of
/// 32 bits, low ones first, and how many sums were not finite.
inline constexpr int kNormLimbs = 21;

/// Bytes that a warp of accumulate or check takes at once.
inline constexpr int kNormWarpBytes = 2048;
/// Bytes that a block of mtc_cuda_zero writes at once.
inline constexpr int kZeroBlockBytes = 16 * kNormThreads;

/// Blocks along x of accumulate and check over `bytes` bytes, on a device of so
/// many multiprocessors; the other entries but mtc_cuda_zero take one block.
constexpr int normBlocks(int64_t bytes, int multiprocessors) {
  int64_t atOnce = kNormWarpBytes * (kNormThreads / 32);
  return int(std::clamp<int64_t>((bytes + atOnce - 1) / atOnce, 1,
                                 4 * multiprocessors));
}

/// Blocks along x of mtc_cuda_take.
constexpr int takeBlocks(int64_t bytes, int multiprocessors) {
  int64_t atOnce = 4 * kNormThreads;
  return int(std::clamp<int64_t>((bytes + atOnce - 1) / atOnce, 1,
                                 8 * multiprocessors));
}

/// Blocks along x of mtc_cuda_zero.
constexpr int zeroBlocks(int64_t bytes, int multiprocessors) {
  return int(std::clamp<int64_t>(
      (bytes + kZeroBlockBytes - 1) / kZeroBlockBytes, 1, 8 * multiprocessors));
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_NORM_NORM_PARAMS_H
