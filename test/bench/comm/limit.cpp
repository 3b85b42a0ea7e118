//===- limit.cpp - what a collective has to read and write ----------------===//

#include "limit.h"

#include <immintrin.h>

namespace mtc::bench {
namespace {

constexpr int64_t kStrip = 64;  // floats
constexpr int64_t kAhead = 512; // floats

template <bool Stream, bool Ahead>
[[gnu::target("avx512f")]] void moveWide(std::span<const float *const> inputs,
                                         std::span<float *const> outputs,
                                         int64_t first, int64_t count) {
  for (int64_t at = first; at < first + count; at += kStrip) {
    __m512 sum[4] = {};
    for (const float *input : inputs)
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        if (Ahead)
          _mm_prefetch(
              reinterpret_cast<const char *>(input + at + i * 16 + kAhead),
              _MM_HINT_T0);
        sum[i] = _mm512_add_ps(sum[i], _mm512_load_ps(input + at + i * 16));
      }
    for (float *output : outputs)
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i)
        if (Stream)
          _mm512_stream_ps(output + at + i * 16, sum[i]);
        else
          _mm512_store_ps(output + at + i * 16, sum[i]);
  }
  _mm_sfence();
}

/// For processors without AVX-512.
template <bool Stream>
void moveNarrow(std::span<const float *const> inputs,
                std::span<float *const> outputs, int64_t first, int64_t count) {
  for (int64_t at = first; at < first + count; at += 16) {
    __m128 sum[4] = {};
    for (const float *input : inputs)
      for (int i = 0; i < 4; ++i)
        sum[i] = _mm_add_ps(sum[i], _mm_load_ps(input + at + i * 4));
    for (float *output : outputs)
      for (int i = 0; i < 4; ++i)
        if (Stream)
          _mm_stream_ps(output + at + i * 4, sum[i]);
        else
          _mm_store_ps(output + at + i * 4, sum[i]);
  }
  _mm_sfence();
}

} // namespace

void movePattern(int form, std::span<const float *const> inputs,
                 std::span<float *const> outputs, int64_t first,
                 int64_t count) {
  auto *wide = form == 0   ? moveWide<false, false>
               : form == 1 ? moveWide<false, true>
               : form == 2 ? moveWide<true, false>
                           : moveWide<true, true>;
  auto *narrow = form < 2 ? moveNarrow<false> : moveNarrow<true>;
  auto *move = __builtin_cpu_supports("avx512f") ? wide : narrow;
  move(inputs, outputs, first, count);
}

} // namespace mtc::bench
