//===- norm_window_body.h - squares of what registers have ------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_NORM_WINDOW_BODY_H
#define MTC_RUNTIME_KERNELS_CPU_NORM_WINDOW_BODY_H

#include "runtime/kernels/cpu/norm_window.h"
#include "runtime/kernels/cpu/simd.h"

namespace {

using mtc::runtime::NormHalves;
using mtc::runtime::NormWindow;

#ifdef __AVX512IFMA__
constexpr bool kFillsWindows = true;

/// Sums of the two halves of lanes.
struct Squares {
  MTC_INLINE void add(U magnitudes, __m512d magnet) {
    F x = _mm512_castsi512_ps(magnitudes);
    add(even, even2, _mm512_castps512_ps256(x), magnet);
    add(odd, odd2, _mm512_extractf32x8_ps(x, 1), magnet);
  }
  MTC_INLINE void addTo(NormHalves &to) const {
    U low = _mm512_add_epi64(even, odd), high = _mm512_add_epi64(even2, odd2);
    _mm512_store_si512(to.low,
                       _mm512_add_epi64(low, _mm512_load_si512(to.low)));
    _mm512_store_si512(to.high,
                       _mm512_add_epi64(high, _mm512_load_si512(to.high)));
  }

private:
  MTC_INLINE static void add(U &low, U &high, __m256 x, __m512d magnet) {
    U n = _mm512_castpd_si512(_mm512_cvtps_pd(x) + magnet);
    low = _mm512_madd52lo_epu64(low, n, n);
    high = _mm512_madd52hi_epu64(high, n, n);
  }
  U even = _mm512_setzero_si512(), odd = even, even2 = even, odd2 = even;
};

MTC_INLINE U magnitudesOf(F x) {
  return _mm512_and_si512(_mm512_castps_si512(x),
                          _mm512_set1_epi32(0x7fffffff));
}

/// Of values of which some are not usual, vector by vector.
[[gnu::noinline, gnu::cold]] void countAll(NormWindow &to, const float *x,
                                           int64_t vectors) {
  const U zero = _mm512_setzero_si512(), end = _mm512_set1_epi32(int(to.end)),
          leastUsual = _mm512_set1_epi32(int(to.leastUsual)),
          leastSmall = _mm512_set1_epi32(int(to.leastSmall));
  const __m512d usualMagnet = _mm512_set1_pd(to.usualMagnet),
                smallMagnet = _mm512_set1_pd(to.smallMagnet);
  Squares usual, small;
  __mmask16 out = 0;
  for (int64_t v = 0; v < vectors; ++v) {
    U bits = magnitudesOf(_mm512_loadu_ps(x + v * kW));
    __mmask16 isUsual = _mm512_cmpge_epu32_mask(bits, leastUsual),
              isSmall = _mm512_cmplt_epu32_mask(bits, leastUsual);
    out |= _mm512_cmpge_epu32_mask(bits, end) |
           (_mm512_cmplt_epu32_mask(bits, leastSmall) &
            _mm512_cmpneq_epu32_mask(bits, zero));
    usual.add(_mm512_maskz_mov_epi32(isUsual, bits), usualMagnet);
    small.add(_mm512_maskz_mov_epi32(isSmall, bits), smallMagnet);
  }
  to.isOut |= out != 0;
  usual.addTo(to.usual);
  small.addTo(to.small);
}

/// Of whole vectors. A call, as the registers of a product are all in use.
[[gnu::noinline]] void count(NormWindow &to, const float *x, int64_t vectors) {
  const U one = _mm512_set1_epi32(1);
  const __m512d magnet = _mm512_set1_pd(to.usualMagnet);
  Squares usual;
  // Zero, less one, is the largest number.
  U largest = _mm512_setzero_si512(), least = _mm512_set1_epi32(-1);
#pragma GCC unroll 4
  for (int64_t v = 0; v < vectors; ++v) {
    U bits = magnitudesOf(_mm512_loadu_ps(x + v * kW));
    largest = _mm512_max_epu32(largest, bits);
    least = _mm512_min_epu32(least, _mm512_sub_epi32(bits, one));
    usual.add(bits, magnet);
  }
  _mm512_store_si512(to.largest,
                     _mm512_max_epu32(largest, _mm512_load_si512(to.largest)));
  // No number is below the least one, less one, where zero is usual.
  uint32_t bound = to.leastUsual > 0 ? to.leastUsual - 1 : 0;
  __mmask16 isOther =
      _mm512_cmpge_epu32_mask(largest, _mm512_set1_epi32(int(to.end))) |
      _mm512_cmplt_epu32_mask(least, _mm512_set1_epi32(int(bound)));
  if (__builtin_expect(isOther != 0, 0))
    return countAll(to, x, vectors);
  usual.addTo(to.usual);
}
#else
constexpr bool kFillsWindows = false;

MTC_INLINE void count(NormWindow &, const float *, int64_t) {}
#endif

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_NORM_WINDOW_BODY_H
