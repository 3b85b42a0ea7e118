//===- permutation.cpp - the order of samples -----------------------------===//

#include "runtime/data/permutation.h"

#include "runtime/base/philox.h"

namespace mtc::runtime {

Permutation::Permutation(uint64_t seed, uint64_t epoch, int64_t size)
    : seed_(seed), epoch_(epoch), size_(static_cast<uint64_t>(size)) {
  while ((uint64_t(1) << (2 * halfBits_)) < size_)
    ++halfBits_;
}

uint64_t Permutation::once(uint64_t value) const {
  uint64_t mask = (uint64_t(1) << halfBits_) - 1;
  uint64_t left = value >> halfBits_, right = value & mask;
  for (uint32_t round = 0; round < 8; ++round) {
    PhiloxBlock counter = {static_cast<uint32_t>(right), 0xFFFF80u + round,
                           static_cast<uint32_t>(epoch_),
                           static_cast<uint32_t>(epoch_ >> 32)};
    uint64_t word = philox4x32(counter, static_cast<uint32_t>(seed_),
                               static_cast<uint32_t>(seed_ >> 32))[0];
    uint64_t next = (left ^ word) & mask;
    left = right;
    right = next;
  }
  return left << halfBits_ | right;
}

int64_t Permutation::operator()(int64_t index) const {
  // Walking a cycle of the larger permutation until it is back inside gives a
  // permutation of the smaller set.
  uint64_t value = static_cast<uint64_t>(index);
  do
    value = once(value);
  while (value >= size_);
  return static_cast<int64_t>(value);
}

} // namespace mtc::runtime
