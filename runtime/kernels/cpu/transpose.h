//===- transpose.h - square blocks turned in registers ----------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_TRANSPOSE_H
#define MTC_RUNTIME_KERNELS_CPU_TRANSPOSE_H

#include "runtime/kernels/cpu/simd.h"

#include <utility>

namespace {

/// a with lanes that have bit kStep replaced by those of b kStep before them.
template <int kStep, int... kLane>
MTC_INLINE F lowPairs(F a, F b, std::integer_sequence<int, kLane...>) {
  return __builtin_shufflevector(
      a, b, (kLane & kStep ? kW + kLane - kStep : kLane)...);
}
/// b with lanes that lack bit kStep replaced by those of a kStep behind them.
template <int kStep, int... kLane>
MTC_INLINE F highPairs(F a, F b, std::integer_sequence<int, kLane...>) {
  return __builtin_shufflevector(
      a, b, (kLane & kStep ? kW + kLane : kLane + kStep)...);
}

/// Exchanges blocks of kStep x kStep beside the diagonal of those of twice the
/// size.
template <int kStep> MTC_INLINE void exchangeBlocks(F (&rows)[kW]) {
  constexpr std::make_integer_sequence<int, kW> lanes{};
#pragma GCC unroll 16
  for (int i = 0; i < kW; ++i) {
    if (i & kStep)
      continue;
    F a = rows[i], b = rows[i + kStep];
    rows[i] = lowPairs<kStep>(a, b, lanes);
    rows[i + kStep] = highPairs<kStep>(a, b, lanes);
  }
}

/// Row i, lane j becomes row j, lane i.
MTC_INLINE void transpose(F (&rows)[kW]) {
  exchangeBlocks<1>(rows);
  exchangeBlocks<2>(rows);
  exchangeBlocks<4>(rows);
  if constexpr (kW == 16)
    exchangeBlocks<8>(rows);
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_TRANSPOSE_H
