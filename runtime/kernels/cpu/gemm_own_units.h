//===- gemm_own_units.h - what packed panels are made of --------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). How units are read along k or
// across it, eight of them or a vector, and one at an edge.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_UNITS_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_UNITS_H

#include "runtime/kernels/cpu/simd.h"

namespace {

/// Of a row of a register block, at most; of tiles two, beside as many of rows.
#ifdef __AMX_TILE__
constexpr int kVectors = 2;
#else
constexpr int kVectors = 3;
#endif
constexpr int64_t kPanelColumns = kVectors * kW; ///< of a panel of op(b)

/// Eight units, in every instruction set: of a panel of op(a).
struct Eight {
  using Vector = __m256;
  static constexpr int kUnits = 8;
  static constexpr bool kStreams = false;
  MTC_INLINE static Vector floats(const float *p) { return _mm256_loadu_ps(p); }
  MTC_INLINE static Vector floats(const F16 *p) {
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
  }
  MTC_INLINE static Vector floats(const Bf16 *p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(halves(p), 16));
  }
  /// Neighbours along k, as memory has them.
  MTC_INLINE static Vector pairs(const Bf16 *p) {
    return floats(reinterpret_cast<const float *>(p));
  }
  MTC_INLINE static Vector pairs(const Bf16 *low, const Bf16 *high) {
    return _mm256_castsi256_ps(
        _mm256_or_si256(halves(low), _mm256_slli_epi32(halves(high), 16)));
  }
  MTC_INLINE static void store(float *p, Vector x) { _mm256_storeu_ps(p, x); }
  static void transpose(Vector (&x)[kUnits]);

private:
  MTC_INLINE static __m256i halves(const Bf16 *p) {
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
  }
};

/// Row i of x becomes column i.
MTC_INLINE void Eight::transpose(Vector (&x)[kUnits]) {
  __m256 pair[8], four[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    pair[2 * i] = _mm256_unpacklo_ps(x[2 * i], x[2 * i + 1]);
    pair[2 * i + 1] = _mm256_unpackhi_ps(x[2 * i], x[2 * i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    four[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
    four[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xee);
    four[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
    four[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    x[i] = _mm256_permute2f128_ps(four[i], four[i + 4], 0x20);
    x[i + 4] = _mm256_permute2f128_ps(four[i], four[i + 4], 0x31);
  }
}

#ifdef __AVX512F__
/// A vector of units: of a panel of op(b).
struct Sixteen {
  using Vector = __m512;
  static constexpr int kUnits = 16;
  static constexpr bool kStreams = false;
  template <typename E> MTC_INLINE static Vector floats(const E *p) {
    return load(p);
  }
  MTC_INLINE static Vector pairs(const Bf16 *p) {
    return floats(reinterpret_cast<const float *>(p));
  }
  MTC_INLINE static Vector pairs(const Bf16 *low, const Bf16 *high) {
    return _mm512_castsi512_ps(
        _mm512_or_si512(halves(low), _mm512_slli_epi32(halves(high), 16)));
  }
  MTC_INLINE static void store(float *p, Vector x) { _mm512_storeu_ps(p, x); }
  static void transpose(Vector (&x)[kUnits]);

private:
  MTC_INLINE static __m512i halves(const Bf16 *p) {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
  }
};

/// Fours of rows within each quarter of a register, then the quarters.
MTC_INLINE void Sixteen::transpose(Vector (&x)[kUnits]) {
  __m512 four[16];
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    __m512 low = _mm512_unpacklo_ps(x[i], x[i + 1]),
           high = _mm512_unpackhi_ps(x[i], x[i + 1]),
           nextLow = _mm512_unpacklo_ps(x[i + 2], x[i + 3]),
           nextHigh = _mm512_unpackhi_ps(x[i + 2], x[i + 3]);
    four[i] = _mm512_shuffle_ps(low, nextLow, 0x44);
    four[i + 1] = _mm512_shuffle_ps(low, nextLow, 0xee);
    four[i + 2] = _mm512_shuffle_ps(high, nextHigh, 0x44);
    four[i + 3] = _mm512_shuffle_ps(high, nextHigh, 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    __m512 even = _mm512_shuffle_f32x4(four[i], four[i + 4], 0x88),
           odd = _mm512_shuffle_f32x4(four[i], four[i + 4], 0xdd),
           nextEven = _mm512_shuffle_f32x4(four[i + 8], four[i + 12], 0x88),
           nextOdd = _mm512_shuffle_f32x4(four[i + 8], four[i + 12], 0xdd);
    x[i] = _mm512_shuffle_f32x4(even, nextEven, 0x88);
    x[i + 4] = _mm512_shuffle_f32x4(odd, nextOdd, 0x88);
    x[i + 8] = _mm512_shuffle_f32x4(even, nextEven, 0xdd);
    x[i + 12] = _mm512_shuffle_f32x4(odd, nextOdd, 0xdd);
  }
}

/// The same, written past the caches: a line of a panel each. Others see it
/// behind a fence.
struct StreamedSixteen : Sixteen {
  static constexpr bool kStreams = true;
  MTC_INLINE static void store(float *p, Vector x) { _mm512_stream_ps(p, x); }
};
#else
using Sixteen = Eight;
#endif
/// Of panels of op(b), whose width is a multiple.
using VectorOfUnits = Sixteen;

/// An element in fp32, which is exact.
template <typename E> struct WideUnits {
  using Element = E;
  static constexpr int64_t kElements = 1;
  template <typename Group> MTC_INLINE static auto along(const E *p) {
    return Group::floats(p);
  }
  template <typename Group> MTC_INLINE static auto across(const E *p, int64_t) {
    return Group::floats(p);
  }
  MTC_INLINE static float one(const E *p, int64_t, int64_t) {
    return widen(*p);
  }
};

/// Elements 2i and 2i + 1 along k, the first one in the lower half.
struct PairUnits {
  using Element = Bf16;
  static constexpr int64_t kElements = 2;
  template <typename Group> MTC_INLINE static auto along(const Bf16 *p) {
    return Group::pairs(p);
  }
  template <typename Group>
  MTC_INLINE static auto across(const Bf16 *p, int64_t kStride) {
    return Group::pairs(p, p + kStride);
  }
  /// Of `left` elements along k from p on; what is beyond them is zero.
  MTC_INLINE static float one(const Bf16 *p, int64_t kStride, int64_t left) {
    uint32_t high = left > 1 ? p[kStride].bits : 0;
    return __builtin_bit_cast(float, high << 16 | p->bits);
  }
};

/// Whether units along k are what memory has.
template <typename Units>
inline constexpr bool kIsPlain = Units::kElements *
                                     sizeof(typename Units::Element) ==
                                 sizeof(float);

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_UNITS_H
