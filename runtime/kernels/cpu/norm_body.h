//===- norm_body.h - squares on the grid of 2^-92, vectorised ---*- C++ -*-===//
//
// Internal, per instruction set (see simd.h).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_NORM_BODY_H
#define MTC_RUNTIME_KERNELS_CPU_NORM_BODY_H

#include "runtime/kernels/cpu/kernel_table.h"
#include "runtime/kernels/cpu/simd.h"

namespace {

typedef float Float8 __attribute__((vector_size(32), aligned(4)));
typedef int32_t Int8 __attribute__((vector_size(32), aligned(4)));
typedef double Double8 __attribute__((vector_size(64)));
typedef int64_t Long8 __attribute__((vector_size(64)));

/// Whether every |g| < 64; as integers, so that NaN and inf are large, too.
MTC_INLINE bool allSmall(const float *g, int64_t count) {
  int32_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    int32_t bits = __builtin_bit_cast(int32_t, g[i]) & 0x7fffffff;
    found |= bits >= 0x42800000;
  }
  return !found;
}

/// Adds the squares of 8 values. x = g·g < 2^12 is exact in double. Added to
/// 2^12 it is rounded to a multiple of 2^-40, whose integer is the difference
/// of the bit patterns (up to and at 2^13 the patterns count those units). The
/// remainder is exact, |rest| <= 2^-41, and 1.5·2^-40 + rest is rounded to a
/// multiple of 2^-92, ties to even. The multiple of 2^-40 is an even number of
/// units, so this is the nearest-even rounding of x itself.
MTC_INLINE void addSquares(Double8 g, Long8 &high, Long8 &low) {
  const Double8 big = Double8{} + 0x1p12, small = Double8{} + 0x1.8p-40;
  Double8 x = g * g;
  Double8 rounded = x + big;
  Double8 rest = x - (rounded - big);
  Double8 fine = rest + small;
  high += (Long8)rounded - (Long8)big;
  low += (Long8)fine - (Long8)small;
}

bool normChunk(const float *g, int64_t count, mtc::runtime::NormParts *parts) {
  if (!allSmall(g, count))
    return false;
  Long8 high = {}, low = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    addSquares(__builtin_convertvector(*(const Float8 *)(g + i), Double8), high,
               low);
  Double8 tail = {};
  for (int64_t lane = 0; i < count; ++i, ++lane)
    tail[lane] = double(g[i]);
  addSquares(tail, high, low);
  *parts = {0, 0};
  for (int lane = 0; lane < 8; ++lane) {
    parts->high += high[lane];
    parts->low += low[lane];
  }
  return true;
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_NORM_BODY_H
