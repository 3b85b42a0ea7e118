//===- gemm_own_pack.h - panels of a product --------------------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_PACK_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_PACK_H

#include "runtime/kernels/cpu/gemm_own_table.h"
#include "runtime/kernels/cpu/gemm_own_units.h"

namespace {

using mtc::runtime::PackCall;

constexpr int64_t kGroup = 8; ///< rows that are packed together
constexpr int64_t kShort = 256;

/// Row i of x becomes column i.
MTC_INLINE void transposeEight(__m256 (&x)[8]) {
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

/// A group of up to kGroup rows, one unit at a time.
template <typename Units>
void packEdge(const typename Units::Element *from, int64_t rowStride,
              int64_t kStride, int64_t rows, int64_t depth, int64_t firstUnit,
              int64_t width, float *to) {
  for (int64_t k = firstUnit * Units::kElements; k < depth;
       k += Units::kElements)
    for (int64_t row = 0; row < kGroup; ++row)
      to[k / Units::kElements * width + row] =
          row < rows ? Units::one(from + row * rowStride + k * kStride, kStride,
                                  depth - k)
                     : 0.0f;
}

/// Eight rows that are stored along k.
template <typename Units>
MTC_INLINE void packAlong(const typename Units::Element *from, int64_t stride,
                          int64_t depth, int64_t width, float *to) {
  constexpr int64_t kAhead = 256; // bytes
  int64_t unit = 0;
  for (; (unit + 8) * Units::kElements <= depth; unit += 8) {
    const auto *p = from + unit * Units::kElements;
    __m256 x[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      x[i] = Units::along(p + i * stride);
      _mm_prefetch((const char *)(p + i * stride) + kAhead, _MM_HINT_T0);
    }
    transposeEight(x);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i)
      _mm256_storeu_ps(to + (unit + i) * width, x[i]);
  }
  packEdge<Units>(from, stride, 1, kGroup, depth, unit, width, to);
}

/// All whole groups of rows, each unit of k in one go, as memory has them.
template <typename Units>
MTC_INLINE void packAcross(const PackCall &call, int64_t units) {
  const auto *from = static_cast<const typename Units::Element *>(call.from);
  constexpr int64_t kAhead = 16, kLine = 64 / int64_t(sizeof(*from));
  int64_t whole = call.rows / kGroup * kGroup;
  int64_t wholeUnits = call.depth / Units::kElements;
  for (int64_t unit = 0; unit < wholeUnits; ++unit) {
    const auto *p = from + unit * Units::kElements * call.stride;
    // Short rows far apart: nothing else foresees the next ones.
    for (int64_t i = 0; i < Units::kElements && whole <= kShort; ++i)
      for (int64_t row = 0; row < whole; row += kLine)
        _mm_prefetch((const char *)(p + (kAhead + i) * call.stride + row),
                     _MM_HINT_T0);
    float *panel = call.to + unit * call.width;
    for (int64_t row = 0; row < whole; panel += units * call.width)
      for (int64_t at = 0; at < call.width && row < whole;
           at += kGroup, row += kGroup)
        _mm256_storeu_ps(panel + at, Units::across(p + row, call.stride));
  }
  if (wholeUnits < units)
    for (int64_t row = 0; row < whole; row += kGroup)
      packEdge<Units>(from + row, 1, call.stride, kGroup, call.depth,
                      wholeUnits, call.width,
                      call.to + row / call.width * call.width * units +
                          row % call.width);
}

template <typename Units> void packPanels(const PackCall &call) {
  const auto *from = static_cast<const typename Units::Element *>(call.from);
  int64_t units = (call.depth + Units::kElements - 1) / Units::kElements;
  int64_t rowStride = call.alongK ? call.stride : 1,
          kStride = call.alongK ? 1 : call.stride;
  if (!call.alongK)
    packAcross<Units>(call, units);
  int64_t padded = (call.rows + call.width - 1) / call.width * call.width;
  for (int64_t row = 0; row < padded; row += kGroup) {
    float *to =
        call.to + row / call.width * call.width * units + row % call.width;
    if (row + kGroup > call.rows)
      packEdge<Units>(from + row * rowStride, rowStride, kStride,
                      call.rows - row, call.depth, 0, call.width, to);
    else if (call.alongK)
      packAlong<Units>(from + row * rowStride, call.stride, call.depth,
                       call.width, to);
  }
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_PACK_H
