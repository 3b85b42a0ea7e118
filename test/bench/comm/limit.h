//===- limit.h - what a collective has to read and write --------*- C++ -*-===//
//
// A program with the pattern of reads and writes that a collective has, and
// nothing else: no calls to compare, no types, no order. How long it takes on
// the same pages is the limit of the machine.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_BENCH_COMM_LIMIT_H
#define MTC_BENCH_COMM_LIMIT_H

#include <cstdint>
#include <span>

namespace mtc::bench {

/// Ways to write the same pattern; which is fastest depends on size and
/// machine: with or without stores past the caches and reads ahead.
inline constexpr int kForms = 4;

/// Reads floats [first, first + count) of all `inputs` and writes their sum to
/// all `outputs`. Buffers begin at pages; `first` and `count` are multiples of
/// 64. Floats behind the range are read ahead, never written.
void movePattern(int form, std::span<const float *const> inputs,
                 std::span<float *const> outputs, int64_t first, int64_t count);

} // namespace mtc::bench
#endif // MTC_BENCH_COMM_LIMIT_H
