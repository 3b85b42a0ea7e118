//===- limbs.cuh - the sum as integers that ranks can add -------*- C++ -*-===//
//
// Libraries of collectives add integers of 64 bits. In each of them there are
// 32 bits of the sum, so that those of 2^31 ranks add up without a carry, in
// signed integers, too.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_NORM_LIMBS_CUH
#define MTC_RUNTIME_CUDA_NORM_LIMBS_CUH

#include "runtime/cuda/norm/exact_sum.cuh"
#include "runtime/cuda/norm/norm_params.h"

namespace mtc::cuda {

constexpr int kHalfWords = 2 * kWords;
static_assert(kNormLimbs == kHalfWords + 1);

/// Where a word is among those of MtcStepState::norm.
MTC_DEVICE int placeOf(int word) {
  return word < kWords - 1 ? 2 * word : 2 * MTC_NORM_LIMBS - 1;
}

/// By one warp at least.
MTC_DEVICE void toLimbs(const int64_t *norm, Word *limbs) {
  int i = int(threadIdx.x);
  if (i >= kNormLimbs)
    return;
  bool finite = Word(norm[placeOf(kWords - 1)]) != kNotFiniteHigh;
  if (i == kHalfWords)
    limbs[i] = finite ? 0 : 1;
  else
    limbs[i] = finite ? uint32_t(norm[placeOf(i / 2)] >> i % 2 * 32) : 0;
}

/// By one thread.
MTC_DEVICE void fromLimbs(int64_t *norm, const Word *limbs) {
  Word carry = 0;
  bool finite = limbs[kHalfWords] == 0;
#pragma unroll
  for (int word = 0; word < kWords; ++word) {
    Word low = limbs[2 * word] + carry;
    Word high = limbs[2 * word + 1] + (low >> 32);
    carry = high >> 32;
    Word both = high << 32 | uint32_t(low);
    // A sum of squares does not get there; what does is somebody else's bytes.
    if (word == kWords - 1 && (carry != 0 || both >= kNotFiniteHigh))
      finite = false;
    norm[placeOf(word)] = int64_t(both);
    if (word < kWords - 2)
      norm[placeOf(word) + 1] = 0;
  }
  if (!finite) {
    norm[placeOf(kWords - 2)] = -1;
    norm[placeOf(kWords - 1)] = int64_t(kNotFiniteHigh);
  }
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_NORM_LIMBS_CUH
