//===- limits.cpp - what this processor can do at most --------------------===//

#include "runtime/profile/limits.h"

#include "mtc/runtime/isa.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <functional>
#include <immintrin.h>
#include <thread>
#include <vector>

namespace mtc::runtime {
namespace {

constexpr int kChains =
    16; ///< independent sums: latency 4, two units, and room
constexpr int64_t kRounds = 20'000'000;
constexpr int64_t kArray = 64 << 20; ///< floats of one array of the copy

double secondsNow() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// The sum keeps the compiler from leaving the work out.
volatile float sink;

/// FLOPs: two per lane, chain and round. Unrolled, so that sums are registers.
[[gnu::target("avx512f")]] double fma512() {
  __m512 acc[kChains], x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(1e-3f);
  for (auto &a : acc)
    a = _mm512_setzero_ps();
  for (int64_t i = 0; i < kRounds; ++i)
#pragma GCC unroll 16
    for (auto &a : acc)
      a = _mm512_fmadd_ps(a, x, y);
  for (auto &a : acc)
    sink = sink + _mm512_reduce_add_ps(a);
  return 2.0 * 16 * kChains * double(kRounds);
}

[[gnu::target("avx2,fma")]] double fma256() {
  __m256 acc[kChains - 4], x = _mm256_set1_ps(0.999f),
                           y = _mm256_set1_ps(1e-3f);
  for (auto &a : acc)
    a = _mm256_setzero_ps();
  for (int64_t i = 0; i < kRounds; ++i)
#pragma GCC unroll 16
    for (auto &a : acc)
      a = _mm256_fmadd_ps(a, x, y);
  for (auto &a : acc)
    sink = sink + a[0];
  return 2.0 * 8 * (kChains - 4) * double(kRounds);
}

/// Two products a lane.
[[gnu::target("avx512f,avx512bf16")]] double dot512() {
  __m512 acc[kChains];
  __m512bh x = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5f), _mm512_set1_ps(0.25f));
  for (auto &a : acc)
    a = _mm512_setzero_ps();
  for (int64_t i = 0; i < kRounds; ++i)
#pragma GCC unroll 16
    for (auto &a : acc)
      a = _mm512_dpbf16_ps(a, x, x);
  for (auto &a : acc)
    sink = sink + _mm512_reduce_add_ps(a);
  return 4.0 * 16 * kChains * double(kRounds);
}

/// Bytes read and written.
double copy(std::vector<float> &to, const std::vector<float> &from) {
  std::copy(from.begin(), from.end(), to.begin());
  sink = sink + to[size_t(to.size()) / 2];
  return 2.0 * 4 * double(to.size());
}

/// Work a second of `threads` threads that start together; best of five.
double rate(int threads, const std::function<double(int)> &work) {
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::vector<double> done(size_t(threads), 0), begin(done), end(done);
    std::barrier start(threads);
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        start.arrive_and_wait();
        begin[size_t(t)] = secondsNow();
        done[size_t(t)] = work(t);
        end[size_t(t)] = secondsNow();
      });
    for (std::thread &thread : all)
      thread.join();
    double total = 0;
    for (double d : done)
      total += d;
    best =
        std::max(best, total / (*std::max_element(end.begin(), end.end()) -
                                *std::min_element(begin.begin(), begin.end())));
  }
  return best;
}

} // namespace

/// Sums and operands in tiles: 16 by 16 sums of 32 products each.
[[gnu::target("amx-tile,amx-bf16")]] double multiplyInTiles(int64_t rounds) {
  struct alignas(64) {
    uint8_t palette = 1, reserved[15] = {};
    uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  } shapes;
  // Not by the compiler's function, which reads eight bytes of it (GCC 12). All
  // tiles are zero then.
  __asm__ volatile("ldtilecfg %0" : : "m"(shapes));
  for (int64_t i = 0; i < rounds; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
  return 4 * 2.0 * 16 * 16 * 32 * double(rounds);
}

MachineLimits measureLimits(int threads, std::string_view isa) {
  MachineLimits limits;
  auto may = [&](std::string_view level) {
    return processorHas(level) && (isa.empty() || isaIncludes(isa, level));
  };
  bool wide = may("x86-64-v4");
  limits.f32 = rate(threads, [&](int) { return wide ? fma512() : fma256(); });
  if (may("x86-64-v4-amx"))
    limits.bf16 =
        rate(threads, [](int) { return multiplyInTiles(kRounds / 8); });
  else if (may("x86-64-v4-bf16"))
    limits.bf16 = rate(threads, [](int) { return dot512(); });
  std::vector<std::vector<float>> from, to;
  for (int t = 0; t < threads; ++t) {
    from.emplace_back(size_t(kArray / threads), 1.0f);
    to.emplace_back(size_t(kArray / threads), 0.0f);
  }
  limits.copy = rate(
      threads, [&](int t) { return copy(to[size_t(t)], from[size_t(t)]); });
  return limits;
}

} // namespace mtc::runtime
