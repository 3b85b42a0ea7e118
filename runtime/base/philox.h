//===- philox.h - the counter-based random numbers of mtc -------*- C++ -*-===//
//
// Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3" (SC'11), addressed as docs/numerics.md says: a random word
// is a pure function of (seed, id, layer, site, element), so every layout and
// both directions of training draw the same numbers. Header only; the compiler
// uses it too.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_BASE_PHILOX_H
#define MTC_RUNTIME_BASE_PHILOX_H

#include <array>
#include <cstdint>

namespace mtc::runtime {

using PhiloxBlock = std::array<uint32_t, 4>;

/// Multipliers and Weyl increments of the paper, table 2 and section 3.3.
inline constexpr uint32_t kPhiloxMul0 = 0xD2511F53u;
inline constexpr uint32_t kPhiloxMul1 = 0xCD9E8D57u;
inline constexpr uint32_t kPhiloxWeyl0 = 0x9E3779B9u;
inline constexpr uint32_t kPhiloxWeyl1 = 0xBB67AE85u;

/// The four random words of one counter; `key0` is the low word of the key.
constexpr PhiloxBlock philox4x32(PhiloxBlock counter, uint32_t key0,
                                 uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t{kPhiloxMul0} * counter[0];
    uint64_t product1 = uint64_t{kPhiloxMul1} * counter[2];
    counter = {uint32_t(product1 >> 32) ^ counter[1] ^ key0, uint32_t(product1),
               uint32_t(product0 >> 32) ^ counter[3] ^ key1,
               uint32_t(product0)};
    key0 += kPhiloxWeyl0;
    key1 += kPhiloxWeyl1;
  }
  return counter;
}

/// Where a stream of random words lives. Elements go up to 2^42 - 1.
struct PhiloxAddress {
  uint64_t seed = 0;
  uint64_t id = 0;    ///< absolute sample id, or xxh3-64 of a parameter's name
  uint32_t layer = 0; ///< 16 bits; 0: embedding and initialisation
  uint32_t site = 0;  ///< 8 bits
};

/// The words of elements 4·block .. 4·block + 3; block < 2^40.
constexpr PhiloxBlock philoxBlock(const PhiloxAddress &at, uint64_t block) {
  PhiloxBlock counter = {uint32_t(block),
                         uint32_t(block >> 32) << 24 | at.layer << 8 | at.site,
                         uint32_t(at.id), uint32_t(at.id >> 32)};
  return philox4x32(counter, uint32_t(at.seed), uint32_t(at.seed >> 32));
}

/// The word of one element (the block's word `element mod 4`).
constexpr uint32_t philoxWord(const PhiloxAddress &at, uint64_t element) {
  return philoxBlock(at, element / 4)[element % 4];
}

/// Dropout of rate 0 <= rate < 1: an element is kept iff its word is at least
/// floor(rate·2^32); kept elements are multiplied by fp32(1/(1-rate)).
struct DropoutRule {
  uint32_t threshold = 0;
  float scale = 1.0f;
  constexpr bool keeps(uint32_t word) const { return word >= threshold; }
};

constexpr DropoutRule dropoutRule(double rate) {
  return {uint32_t(rate * 4294967296.0), float(1.0 / (1.0 - rate))};
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_PHILOX_H
