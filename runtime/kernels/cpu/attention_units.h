//===- attention_units.h - what products of attention multiply --*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). Tiles are made of units of 4
// bytes, which a product walks along its inner dimension: an element in fp32
// (FloatUnits), of which a step is one FMA, or two neighbours in bf16
// (PairUnits), the first one in the lower half, which vdpbf16ps multiplies.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_UNITS_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_UNITS_H

#include "runtime/kernels/cpu/kernel_table.h"
#include "runtime/kernels/cpu/simd.h"

namespace {

using mtc::runtime::kTile;

struct FloatUnits {
  static constexpr int kElements = 1;
  /// Whether what dropout keeps is multiplied by its scale before products, not
  /// what they make of it.
  static constexpr bool kScalesAtOnce = true;
  MTC_INLINE static F add(F sum, F a, F b) { return fma(a, b, sum); }

  /// kW units of a token, and one, of which `left` elements exist.
  template <typename T> MTC_INLINE static F along(const T *p) {
    return load(p);
  }
  template <typename T> MTC_INLINE static float one(const T *p, int64_t) {
    return widen(*p);
  }
  /// The same with `left` tokens, `stride` apart.
  template <typename T>
  MTC_INLINE static F across(const T *p, int64_t, int64_t) {
    return load(p);
  }
  template <typename T>
  MTC_INLINE static float oneAcross(const T *p, int64_t, int64_t) {
    return widen(*p);
  }

  /// The power of `exponent` is e^(score·scale - shift): at most 1, or any
  /// (anyPowers).
  MTC_INLINE static F exponent(F score, F scale, F shift) {
    return score * scale - shift;
  }
  template <int kN> MTC_INLINE static void powers(F (&x)[kN]) { expUpTo88(x); }
  template <int kN> MTC_INLINE static void anyPowers(F (&x)[kN]) { expOf(x); }

  /// A result.
  template <typename T> MTC_INLINE static void storeResult(T *p, F x) {
    store(p, x);
  }

  /// Vectors of elements from j on of a row whose units go along it.
  template <int kN>
  MTC_INLINE static void storeAlong(float *row, int64_t j, const F (&x)[kN]) {
    onEach<kN>([&](int i) { store(row + j + i * kW, x[i]); });
  }
  /// Elements [j, j + kW) of kElements rows of a tile from `row` on, whose
  /// units go across them.
  MTC_INLINE static void storeAcross(float *tile, int64_t row, int64_t j,
                                     const F (&x)[1]) {
    store(tile + row * kTile + j, x[0]);
  }
};

#ifdef __AVX512BF16__
struct PairUnits {
  static constexpr int kElements = 2;
  static constexpr bool kScalesAtOnce = false;
  /// Two additions, each rounded, the upper halves' first; subnormals are zero.
  MTC_INLINE static F add(F sum, F a, F b) {
    return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
  }

  MTC_INLINE static F along(const Bf16 *p) { return _mm512_loadu_ps(p); }
  MTC_INLINE static float one(const Bf16 *p, int64_t left) {
    return oneAcross(p, 1, left);
  }
  MTC_INLINE static U halves(const Bf16 *p) {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
  }
  MTC_INLINE static F across(const Bf16 *p, int64_t stride, int64_t left) {
    U high = left > 1 ? _mm512_slli_epi32(halves(p + stride), 16)
                      : _mm512_setzero_si512();
    return _mm512_castsi512_ps(_mm512_or_si512(halves(p), high));
  }
  MTC_INLINE static float oneAcross(const Bf16 *p, int64_t stride,
                                    int64_t left) {
    uint32_t high = left > 1 ? p[stride].bits : 0;
    return __builtin_bit_cast(float, high << 16 | p->bits);
  }

  /// By powers of two, which have fewer steps: a rounding to eight bits hides
  /// what they are off, and sums and lse are off by as little.
  /// However far a score is from zero, its difference from itself is zero.
  MTC_INLINE static F exponent(F score, F scale, F shift) {
    constexpr float kPerE = 1.44269504f;
    return (score * scale - shift) * broadcast(kPerE);
  }
  template <int kN> MTC_INLINE static void powers(F (&x)[kN]) {
    exp2UpTo127(x);
  }
  template <int kN> MTC_INLINE static void anyPowers(F (&x)[kN]) {
    onEach<kN>([&](int i) { x[i] = minimum(broadcast(127.0f), x[i]); });
    exp2UpTo127(x);
  }

  /// Subnormals are zero here, too.
  MTC_INLINE static void storeResult(Bf16 *p, F x) {
    _mm256_storeu_si256((__m256i *)p, (__m256i)_mm512_cvtneps_pbh(x));
  }

  template <int kN>
  MTC_INLINE static void storeAlong(float *row, int64_t j, const F (&x)[kN]) {
    Bf16 *to = (Bf16 *)row + j;
    if constexpr (kN == 1)
      storeResult(to, x[0]);
    else
      onEach<kN / 2>([&](int i) {
        _mm512_storeu_si512(to + 2 * i * kW,
                            (U)_mm512_cvtne2ps_pbh(x[2 * i + 1], x[2 * i]));
      });
  }
  MTC_INLINE static void storeAcross(float *tile, int64_t row, int64_t j,
                                     const F (&x)[2]) {
    store(tile + row * kTile + j, pairsOf(halvesOf(x[0], x[1])));
  }
  /// Vectors of two rows, rounded, one behind the other; and units across them.
  MTC_INLINE static U halvesOf(F low, F high) {
    return (U)_mm512_cvtne2ps_pbh(high, low);
  }
  MTC_INLINE static F pairsOf(U halves) {
    const U order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26,
                                     10, 25, 9, 24, 8, 23, 7, 22, 6, 21, 5, 20,
                                     4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_castsi512_ps(_mm512_permutexvar_epi16(order, halves));
  }
  /// The same rows' elements from j on, `stride` floats apart.
  MTC_INLINE static void storeTwoAlong(float *row, int64_t stride, int64_t j,
                                       U halves) {
    _mm256_storeu_si256((__m256i *)((Bf16 *)row + j),
                        _mm512_castsi512_si256(halves));
    _mm256_storeu_si256((__m256i *)((Bf16 *)(row + stride) + j),
                        _mm512_extracti64x4_epi64(halves, 1));
  }
};
#endif

/// What a call of elements of type T multiplies.
template <typename T> struct UnitsOf { using Type = FloatUnits; };
#ifdef __AVX512BF16__
template <> struct UnitsOf<Bf16> { using Type = PairUnits; };
#endif

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_UNITS_H
