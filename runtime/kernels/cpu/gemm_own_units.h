//===- gemm_own_units.h - what packed panels are made of --------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). How eight units are read along k
// or across it, and one at an edge.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_UNITS_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_UNITS_H

#include "runtime/kernels/cpu/simd.h"

namespace {

MTC_INLINE __m256i loadEightHalves(const void *p) {
  return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
}
MTC_INLINE __m256 loadEight(const float *p) { return _mm256_loadu_ps(p); }
MTC_INLINE __m256 loadEight(const F16 *p) {
  return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}
MTC_INLINE __m256 loadEight(const Bf16 *p) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(loadEightHalves(p), 16));
}

/// An element in fp32, which is exact.
template <typename E> struct WideUnits {
  using Element = E;
  static constexpr int64_t kElements = 1;
  MTC_INLINE static __m256 along(const E *p) { return loadEight(p); }
  MTC_INLINE static __m256 across(const E *p, int64_t) { return loadEight(p); }
  MTC_INLINE static float one(const E *p, int64_t, int64_t) {
    return widen(*p);
  }
};

/// Elements 2i and 2i + 1 along k, the first one in the lower half.
struct PairUnits {
  using Element = Bf16;
  static constexpr int64_t kElements = 2;
  MTC_INLINE static __m256 along(const Bf16 *p) {
    return _mm256_castsi256_ps(_mm256_loadu_si256((const __m256i *)p));
  }
  MTC_INLINE static __m256 across(const Bf16 *p, int64_t kStride) {
    __m256i low = loadEightHalves(p), high = loadEightHalves(p + kStride);
    return _mm256_castsi256_ps(
        _mm256_or_si256(low, _mm256_slli_epi32(high, 16)));
  }
  /// Of `left` elements along k from p on; what is beyond them is zero.
  MTC_INLINE static float one(const Bf16 *p, int64_t kStride, int64_t left) {
    uint32_t high = left > 1 ? p[kStride].bits : 0;
    return __builtin_bit_cast(float, high << 16 | p->bits);
  }
};

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_UNITS_H
