//===- random.h - numbers by seed -------------------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_RANDOM_H
#define MTC_TEST_CUDA_PTX_MACHINE_RANDOM_H

#include <cstdint>

namespace mtc::ptx {

/// SplitMix64: the same numbers with any standard library.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += kStep;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// As if so many numbers had come.
  void skip(uint64_t count) { state_ += count * kStep; }
  /// Below `end`, which is not 0; even enough for an order.
  uint64_t below(uint64_t end) { return next() % end; }

private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15ull;
  uint64_t state_;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_RANDOM_H
