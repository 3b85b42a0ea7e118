//===- philox_body.h - Philox words, vectorised --------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). The same function as philoxBlock
// of runtime/base/philox.h; a test compares attention with that.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_PHILOX_BODY_H
#define MTC_RUNTIME_KERNELS_CPU_PHILOX_BODY_H

#include "runtime/base/philox.h"
#include "runtime/kernels/cpu/simd.h"

namespace {

using mtc::runtime::kPhiloxMul0;
using mtc::runtime::kPhiloxMul1;
using mtc::runtime::kPhiloxWeyl0;
using mtc::runtime::kPhiloxWeyl1;

struct RowStream {
  uint64_t seed, id;
  uint32_t layerSite; ///< layer << 8 | site
};

// 64-bit lanes that hold one 32-bit word each; upper halves are never read.
#ifdef __AVX512F__
constexpr int kBlocks = 8; ///< blocks in a vector
MTC_INLINE U wide(uint64_t x) { return _mm512_set1_epi64(int64_t(x)); }
MTC_INLINE U mulLow(U a, U b) { return _mm512_mul_epu32(a, b); }
MTC_INLINE U upper(U a) { return _mm512_srli_epi64(a, 32); }
MTC_INLINE U shiftUp(U a, int n) { return _mm512_slli_epi64(a, n); }
MTC_INLINE U lowHalves(U a) { return _mm512_and_si512(a, wide(0xffffffffu)); }
/// Block numbers in the order in which `storeBlocks` undoes the unpacking.
MTC_INLINE U blockLanes(uint64_t first) {
  return _mm512_add_epi64(wide(first),
                          _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7));
}
MTC_INLINE U xor3(U a, U b, U c) {
  return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}
MTC_INLINE void storeBlocks(uint32_t *out, U w01, U w23) {
  _mm512_storeu_si512(out, _mm512_unpacklo_epi64(w01, w23));
  _mm512_storeu_si512(out + 16, _mm512_unpackhi_epi64(w01, w23));
}
#else
constexpr int kBlocks = 4;
MTC_INLINE U wide(uint64_t x) { return _mm256_set1_epi64x(int64_t(x)); }
MTC_INLINE U mulLow(U a, U b) { return _mm256_mul_epu32(a, b); }
MTC_INLINE U upper(U a) { return _mm256_srli_epi64(a, 32); }
MTC_INLINE U shiftUp(U a, int n) { return _mm256_slli_epi64(a, n); }
MTC_INLINE U lowHalves(U a) { return _mm256_and_si256(a, wide(0xffffffffu)); }
MTC_INLINE U blockLanes(uint64_t first) {
  return _mm256_add_epi64(wide(first), _mm256_setr_epi64x(0, 2, 1, 3));
}
MTC_INLINE U xor3(U a, U b, U c) { return a ^ b ^ c; }
MTC_INLINE void storeBlocks(uint32_t *out, U w01, U w23) {
  _mm256_storeu_si256((__m256i *)out, _mm256_unpacklo_epi64(w01, w23));
  _mm256_storeu_si256((__m256i *)(out + 8), _mm256_unpackhi_epi64(w01, w23));
}
#endif

/// One round: the counter, and the key of the round.
MTC_INLINE void philoxRound(U (&c)[4], uint64_t key0, uint64_t key1) {
  U product0 = mulLow(c[0], wide(kPhiloxMul0));
  U product1 = mulLow(c[2], wide(kPhiloxMul1));
  c[0] = xor3(upper(product1), c[1], wide(key0));
  c[2] = xor3(upper(product0), c[3], wide(key1));
  c[1] = product1;
  c[3] = product0;
}

/// The words of kBlocks blocks from `first` on.
MTC_INLINE void philoxBlocks(uint32_t *out, const RowStream &s,
                             uint64_t first) {
  U c0 = blockLanes(first);
  U c[4] = {c0, shiftUp(upper(c0), 24) | wide(s.layerSite), wide(s.id),
            wide(s.id >> 32)};
  uint32_t key0 = uint32_t(s.seed), key1 = uint32_t(s.seed >> 32);
#pragma GCC unroll 10
  for (uint32_t round = 0; round < 10; ++round)
    philoxRound(c, uint32_t(key0 + round * kPhiloxWeyl0),
                uint32_t(key1 + round * kPhiloxWeyl1));
  storeBlocks(out, lowHalves(c[0]) | shiftUp(c[1], 32),
              lowHalves(c[2]) | shiftUp(c[3], 32));
}

#ifdef __AVX512F__
/// Draws runs of kBlocks blocks whose numbers have the same upper half, so that
/// what the first two rounds make of all but the lower halves is one number for
/// all runs: begin, then round of kFirstRound to before kLastRound, then last.
class RunDrawer {
public:
  static constexpr int kFirstRound = 2, kLastRound = 9;

  RunDrawer() = default;
  RunDrawer(const RowStream &s, uint64_t high, uint32_t threshold)
      : least(threshold) {
    uint32_t key0 = uint32_t(s.seed), key1 = uint32_t(s.seed >> 32);
    for (uint32_t round = 0; round <= kLastRound; ++round) {
      keys[round][0] = key0 + round * kPhiloxWeyl0;
      keys[round][1] = key1 + round * kPhiloxWeyl1;
    }
    uint64_t id = uint64_t(kPhiloxMul1) * uint32_t(s.id);
    uint32_t c0 =
        uint32_t(id >> 32) ^ uint32_t(high << 24 | s.layerSite) ^ key0;
    uint64_t next = uint64_t(kPhiloxMul0) * c0;
    ofLow = uint32_t(s.id >> 32) ^ key1;
    ofId = uint32_t(id) ^ uint32_t(keys[1][0]);
    ofNext = uint32_t(next >> 32) ^ uint32_t(keys[1][1]);
    c3 = uint32_t(next);
  }

  /// What the first round makes of a block's number: a product, which of later
  /// blocks is larger by kPhiloxMul0 for each one between.
  MTC_INLINE static uint64_t productOf(uint64_t block) {
    return uint64_t(uint32_t(block)) * kPhiloxMul0;
  }

  /// The counter of a run behind two rounds, from the product of its first
  /// block; blocks are in the order that unpacking undoes.
  MTC_INLINE void begin(U (&c)[4], uint64_t first) const {
    U product =
        _mm512_add_epi64(wide(first), mulLow(blockLanes(0), wide(kPhiloxMul0)));
    c[1] = mulLow(upper(product) ^ wide(ofLow), wide(kPhiloxMul1));
    c[0] = upper(c[1]) ^ wide(ofId);
    c[2] = product ^ wide(ofNext);
    c[3] = wide(c3);
  }
  MTC_INLINE void round(U (&c)[4], int round) const {
    philoxRound(c, keys[round][0], keys[round][1]);
  }
  /// The last round, and of its words a bit for each, in their order: whether
  /// it is at least the threshold.
  MTC_INLINE void last(const U (&c)[4], uint32_t *bits) const {
    const uint64_t *key = keys[kLastRound];
    U product0 = mulLow(c[0], wide(kPhiloxMul0));
    U product1 = mulLow(c[2], wide(kPhiloxMul1));
    U w01 = wordsOf(product1, c[1], key[0]),
      w23 = wordsOf(product0, c[3], key[1]);
    __mmask16 halves[2] = {atLeast(_mm512_unpacklo_epi64(w01, w23)),
                           atLeast(_mm512_unpackhi_epi64(w01, w23))};
    __builtin_memcpy(bits, halves, sizeof halves);
  }

private:
  /// What the last round makes of a product's upper half, and the next word,
  /// which is the lower half, lane by lane.
  MTC_INLINE static U wordsOf(U product, U before, uint64_t key) {
    // A rotation would take a unit that multiplies.
    U turned = _mm512_shuffle_epi32(product, _MM_PERM_CDAB);
    return _mm512_mask_ternarylogic_epi32(turned, 0x5555, before, wide(key),
                                          0x96);
  }
  MTC_INLINE __mmask16 atLeast(U words) const {
    return _mm512_cmpge_epu32_mask(words, _mm512_set1_epi32(int(least)));
  }

  uint64_t keys[kLastRound + 1][2];
  uint64_t ofLow, ofId, ofNext, c3;
  uint32_t least;
};
#endif

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_PHILOX_BODY_H
