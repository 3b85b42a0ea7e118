//===- simd.h - the vector operations of the kernel bodies ------*- C++ -*-===//
//
// Internal: included only by objects built for one instruction set. All in an
// unnamed namespace and always inlined, so nothing leaks to the linker.
// F holds kW floats, U as many 32-bit words. An FMA is one where it is written.
// Elements in memory are float, Bf16 or F16.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_SIMD_H
#define MTC_RUNTIME_KERNELS_CPU_SIMD_H

#include "runtime/base/half.h"

#include <immintrin.h>
#include <stdint.h>

#define MTC_INLINE [[gnu::always_inline]] inline

namespace {

using mtc::runtime::Bf16;
using mtc::runtime::F16;

#ifdef __AVX512F__
using F = __m512;
using U = __m512i;
constexpr int kW = 16;       ///< floats in a vector
constexpr int kTileRows = 8; ///< register tile: kTileRows x 2 vectors
MTC_INLINE F load(const float *p) { return _mm512_loadu_ps(p); }
MTC_INLINE F load(const F16 *p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}
MTC_INLINE void store(F16 *p, F x) {
  _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(x, 0));
}
MTC_INLINE F load(const Bf16 *p) {
  U bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
  return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
}
MTC_INLINE void store(float *p, F x) { _mm512_storeu_ps(p, x); }
MTC_INLINE F broadcast(float x) { return _mm512_set1_ps(x); }
MTC_INLINE F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
/// The second operand where one is NaN.
MTC_INLINE F maximum(F a, F b) { return _mm512_max_ps(a, b); }
MTC_INLINE F minimum(F a, F b) { return _mm512_min_ps(a, b); }
MTC_INLINE F roundEven(F x) { return _mm512_roundscale_ps(x, 8); }
/// x·2^n for integral n in [-126, 127].
MTC_INLINE F timesPower(F x, F n) { return _mm512_scalef_ps(x, n); }
/// x in the lanes below n, `rest` in the others.
MTC_INLINE F firstLanes(int n, F x, F rest) {
  __mmask16 m = n >= 16 ? 0xffff : n <= 0 ? 0 : __mmask16((1u << n) - 1);
  return _mm512_mask_blend_ps(m, rest, x);
}
MTC_INLINE __m256 foldOnce(F x) {
  return _mm512_castps512_ps256(x) + _mm512_extractf32x8_ps(x, 1);
}
MTC_INLINE __m256 foldMax(F x) {
  return _mm256_max_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
}
#else
using F = __m256;
using U = __m256i;
constexpr int kW = 8;
constexpr int kTileRows = 4;
MTC_INLINE F load(const float *p) { return _mm256_loadu_ps(p); }
MTC_INLINE F load(const F16 *p) {
  return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}
MTC_INLINE void store(F16 *p, F x) {
  _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(x, 0));
}
MTC_INLINE F load(const Bf16 *p) {
  U bits = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
  return _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16));
}
MTC_INLINE void store(float *p, F x) { _mm256_storeu_ps(p, x); }
MTC_INLINE F broadcast(float x) { return _mm256_set1_ps(x); }
MTC_INLINE F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
MTC_INLINE F maximum(F a, F b) { return _mm256_max_ps(a, b); }
MTC_INLINE F minimum(F a, F b) { return _mm256_min_ps(a, b); }
MTC_INLINE F roundEven(F x) { return _mm256_round_ps(x, 8); }
MTC_INLINE F timesPower(F x, F n) {
  U i = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
  return x * _mm256_castsi256_ps(_mm256_slli_epi32(i, 23));
}
MTC_INLINE F firstLanes(int n, F x, F rest) {
  U lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  U m = _mm256_cmpgt_epi32(_mm256_set1_epi32(n), lane);
  return _mm256_blendv_ps(rest, x, _mm256_castsi256_ps(m));
}
/// x where the word is at least `threshold`, 0 elsewhere.
MTC_INLINE F keepWhere(const uint32_t *words, uint32_t threshold, F x) {
  U w = _mm256_loadu_si256((const __m256i *)words);
  U t = _mm256_set1_epi32(int(threshold));
  U m = _mm256_cmpeq_epi32(_mm256_max_epu32(w, t), w);
  return _mm256_and_ps(x, _mm256_castsi256_ps(m));
}
MTC_INLINE __m256 foldOnce(F x) { return x; }
MTC_INLINE __m256 foldMax(F x) { return x; }
#endif

/// Rounded as roundToBf16 does.
MTC_INLINE void store(Bf16 *p, F x) {
  typedef uint32_t Bits __attribute__((vector_size(4 * kW)));
  typedef uint16_t Halves __attribute__((vector_size(2 * kW), aligned(2)));
  Bits bits = (Bits)x;
  Bits rounded = bits + 0x7fff + (bits >> 16 & 1);
  Bits kept = (bits & 0x7fffffff) > 0x7f800000 ? bits | 0x400000 : rounded;
  *(Halves *)p = __builtin_convertvector(kept >> 16, Halves);
}

MTC_INLINE float widen(float x) { return x; }
MTC_INLINE float widen(Bf16 x) { return mtc::runtime::widenBf16(x.bits); }
MTC_INLINE float widen(F16 x) { return _cvtsh_ss(x.bits); }
MTC_INLINE void narrow(float x, float &to) { to = x; }
MTC_INLINE void narrow(float x, Bf16 &to) {
  to.bits = mtc::runtime::roundToBf16(x);
}
MTC_INLINE void narrow(float x, F16 &to) { to.bits = _cvtss_sh(x, 0); }

// As many doubles as a vector register has: GCC keeps larger ones in memory.
constexpr int kLanes = kW / 2;
typedef float Floats __attribute__((vector_size(4 * kLanes), aligned(4)));
typedef double Doubles __attribute__((vector_size(8 * kLanes)));
typedef uint64_t Words __attribute__((vector_size(8 * kLanes)));

#ifdef __AVX512F__
MTC_INLINE Doubles squareRoot(Doubles x) {
  return (Doubles)_mm512_maskz_sqrt_pd(0xff, (__m512d)x);
}
MTC_INLINE Doubles loadDoubles(const float *p) {
  return (Doubles)_mm512_cvtps_pd(_mm256_loadu_ps(p));
}
MTC_INLINE Doubles fma(Doubles a, Doubles b, Doubles c) {
  return (Doubles)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
#else
MTC_INLINE Doubles squareRoot(Doubles x) {
  return (Doubles)_mm256_sqrt_pd((__m256d)x);
}
MTC_INLINE Doubles loadDoubles(const float *p) {
  return (Doubles)_mm256_cvtps_pd(_mm_loadu_ps(p));
}
MTC_INLINE Doubles fma(Doubles a, Doubles b, Doubles c) {
  return (Doubles)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
#endif

/// Sum of the lanes, halves onto halves.
MTC_INLINE float sumLanes(F x) {
  __m256 a = foldOnce(x);
  __m128 b = _mm256_castps256_ps128(a) + _mm256_extractf128_ps(a, 1);
  b = b + _mm_movehl_ps(b, b);
  return b[0] + b[1];
}
MTC_INLINE float maxLanes(F x) {
  __m256 a = foldMax(x);
  __m128 b = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  b = _mm_max_ps(b, _mm_movehl_ps(b, b));
  return b[0] > b[1] ? b[0] : b[1];
}

/// The sum, and the maximum, of each of kW vectors, the first one's in lane 0:
/// halves are combined as in sumLanes, of several vectors at once.
struct Sum {
  MTC_INLINE static F of(F a, F b) { return a + b; }
  MTC_INLINE static float lanes(F x) { return sumLanes(x); }
};
struct Maximum {
  MTC_INLINE static F of(F a, F b) { return maximum(a, b); }
  MTC_INLINE static float lanes(F x) { return maxLanes(x); }
};
#ifdef __AVX512F__
template <typename Op> MTC_INLINE F combineRows(const F (&x)[kW]) {
  F eight[8], four[4], two[2];
  // Those that meet last are side by side at the end: 4·lane + element.
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    F a = x[i % 2 * 8 + i / 2], b = x[i % 2 * 8 + i / 2 + 4];
    eight[i] = Op::of(_mm512_shuffle_f32x4(a, b, 0x44),
                      _mm512_shuffle_f32x4(a, b, 0xee));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i)
    four[i] =
        Op::of(_mm512_shuffle_f32x4(eight[2 * i], eight[2 * i + 1], 0x88),
               _mm512_shuffle_f32x4(eight[2 * i], eight[2 * i + 1], 0xdd));
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i)
    two[i] = Op::of(_mm512_shuffle_ps(four[2 * i], four[2 * i + 1], 0x44),
                    _mm512_shuffle_ps(four[2 * i], four[2 * i + 1], 0xee));
  return Op::of(_mm512_shuffle_ps(two[0], two[1], 0x88),
                _mm512_shuffle_ps(two[0], two[1], 0xdd));
}
#else
template <typename Op> MTC_INLINE F combineRows(const F (&x)[kW]) {
  F all = broadcast(0);
  for (int i = 0; i < kW; ++i)
    all[i] = Op::lanes(x[i]);
  return all;
}
#endif

/// step(i) for each of kN vectors.
template <int kN, typename Step> MTC_INLINE void onEach(Step &&step) {
#pragma GCC unroll 4
  for (int i = 0; i < kN; ++i)
    step(i);
}

/// e^x of each of some vectors, for x <= 88; below -87 it is held at
/// e^-87 = 1.6e-38; NaN stays NaN. x = n·ln2 + r, |r| <= ln2/2, and the Taylor
/// series of e^r to r^7: the next term is below 6e-9, so the error is that of
/// rounding, about 1 ulp. Each step is done for all vectors before the next: a
/// processor does not look far enough ahead to find the steps of the others
/// behind those of one, which wait for each other.
template <int kN> MTC_INLINE void expUpTo88(F (&x)[kN]) {
  F n[kN], p[kN];
  onEach<kN>([&](int i) { x[i] = maximum(broadcast(-87.0f), x[i]); });
  onEach<kN>([&](int i) { n[i] = x[i] * broadcast(1.44269504f); });
  onEach<kN>([&](int i) { n[i] = roundEven(n[i]); });
  // ln 2 in two parts; the first has 9 trailing zero bits: n·hi is exact.
  constexpr float kParts[] = {-0x1.62e4p-1f, -0x1.7f7d1cp-20f};
  for (float part : kParts)
    onEach<kN>([&](int i) { x[i] = fma(n[i], broadcast(part), x[i]); });
  onEach<kN>([&](int i) { p[i] = broadcast(1.0f / 5040); });
  constexpr float kTerms[] = {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6,
                              0.5f,       1.0f,       1.0f};
  for (float term : kTerms)
    onEach<kN>([&](int i) { p[i] = fma(p[i], x[i], broadcast(term)); });
  onEach<kN>([&](int i) { x[i] = timesPower(p[i], n[i]); });
}
MTC_INLINE F expUpTo88(F x) {
  F one[1] = {x};
  expUpTo88(one);
  return one[0];
}

/// The same for all x; above 88 it is held, too.
template <int kN> MTC_INLINE void expOf(F (&x)[kN]) {
  onEach<kN>([&](int i) { x[i] = minimum(broadcast(88.0f), x[i]); });
  expUpTo88(x);
}

#ifdef __AVX512F__
/// 2^x of each of some vectors, for x <= 127; below -126 it is held at 2^-126;
/// NaN stays NaN. x = n + r, |r| <= 1/2, and the polynomial of degree 5 that is
/// 1 at 0 and nearest to 2^r: within 1.1e-7 of it, relatively, and 1.7e-7 with
/// the roundings of fp32. Fewer steps than expUpTo88 has.
template <int kN> MTC_INLINE void exp2UpTo127(F (&x)[kN]) {
  F n[kN], p[kN];
  onEach<kN>([&](int i) { x[i] = maximum(broadcast(-126.0f), x[i]); });
  onEach<kN>([&](int i) { n[i] = roundEven(x[i]); });
  onEach<kN>([&](int i) { x[i] = x[i] - n[i]; });
  onEach<kN>([&](int i) { p[i] = broadcast(0x1.5bba14p-10f); });
  constexpr float kTerms[] = {0x1.3cea88p-7f, 0x1.c6b752p-5f, 0x1.ebf9bcp-3f,
                              0x1.62e42ap-1f, 1.0f};
  for (float term : kTerms)
    onEach<kN>([&](int i) { p[i] = fma(p[i], x[i], broadcast(term)); });
  onEach<kN>([&](int i) { x[i] = timesPower(p[i], n[i]); });
}
#endif

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_SIMD_H
