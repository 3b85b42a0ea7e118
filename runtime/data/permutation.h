//===- permutation.h - the order of samples ---------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DATA_PERMUTATION_H
#define MTC_RUNTIME_DATA_PERMUTATION_H

#include <cstdint>

namespace mtc::runtime {

/// A permutation of [0, size) that is a pure function of (seed, epoch): no
/// table, so every rank in every layout computes the same order. A Feistel
/// network of eight rounds on the smallest even number of bits that holds
/// size - 1, with cycle walking: values >= size are permuted again (at most 4
/// times on average). Round function: word 0 of Philox4x32-10 with counter
/// (half, 0xFFFF80 + round, epoch low, epoch high) and the seed as key; the
/// second word is an address that no layer and site of numerics.md uses.
class Permutation {
public:
  /// size >= 1, below 2^62.
  Permutation(uint64_t seed, uint64_t epoch, int64_t size);
  int64_t operator()(int64_t index) const; ///< 0 <= index < size

private:
  uint64_t once(uint64_t value) const;
  uint64_t seed_, epoch_;
  uint64_t size_;
  int halfBits_ = 1;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_PERMUTATION_H
