// CMakeLists.txt compiles this file for the processor it is compiled on.
#include "test/bench/gemm/peak.h"

#include <cstdint>
#include <immintrin.h>

namespace {

constexpr int kChains = 12; ///< independent sums: latency 4, two units, room
constexpr int64_t kRounds = 1'000'000;

volatile float sink; // keeps the compiler from leaving the work out

#ifdef __AVX512F__
using Vector = __m512;
#define MTC_PEAK(name) _mm512_##name
#else
using Vector = __m256;
#define MTC_PEAK(name) _mm256_##name
#endif

template <typename Step> double work(double each, Step &&step) {
  Vector sums[kChains];
  for (Vector &sum : sums)
    sum = MTC_PEAK(setzero_ps)();
  for (int64_t i = 0; i < kRounds; ++i)
#pragma GCC unroll 12
    for (Vector &sum : sums)
      sum = step(sum);
  for (Vector &sum : sums)
    sink = sink + sum[0];
  return each * double(sizeof(Vector) / 4) * kChains * double(kRounds);
}

} // namespace

double peakWork(bool isBf16) {
#ifdef __AVX512BF16__
  if (isBf16) {
    __m512bh x =
        _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5f), _mm512_set1_ps(0.25f));
    return work(4, [&](Vector s) { return _mm512_dpbf16_ps(s, x, x); });
  }
#endif
  Vector x = MTC_PEAK(set1_ps)(0.999f), y = MTC_PEAK(set1_ps)(1e-3f);
  (void)isBf16;
  return work(2, [&](Vector s) { return MTC_PEAK(fmadd_ps)(s, x, y); });
}
