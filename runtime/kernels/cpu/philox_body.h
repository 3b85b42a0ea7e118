//===- philox_body.h - Philox words of a row, vectorised --------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). The same function as philoxBlock
// of runtime/base/philox.h; a test compares attention with that.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_PHILOX_BODY_H
#define MTC_RUNTIME_KERNELS_CPU_PHILOX_BODY_H

#include "runtime/kernels/cpu/simd.h"

namespace {

/// A row of a tile has at most kRowWords words; with the unaligned start and
/// whole vectors of blocks it fits kWordBuffer.
constexpr int kRowWords = 64, kWordBuffer = 128;

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
MTC_INLINE void storeBlocks(uint32_t *out, U w01, U w23) {
  _mm256_storeu_si256((__m256i *)out, _mm256_unpacklo_epi64(w01, w23));
  _mm256_storeu_si256((__m256i *)(out + 8), _mm256_unpackhi_epi64(w01, w23));
}
#endif

/// The words of kBlocks blocks from `first` on.
MTC_INLINE void philoxBlocks(uint32_t *out, const RowStream &s,
                             uint64_t first) {
  U c0 = blockLanes(first);
  U c1 = shiftUp(upper(c0), 24) | wide(s.layerSite);
  U c2 = wide(s.id), c3 = wide(s.id >> 32);
  uint32_t key0 = uint32_t(s.seed), key1 = uint32_t(s.seed >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    U product0 = mulLow(c0, wide(0xD2511F53u));
    U product1 = mulLow(c2, wide(0xCD9E8D57u));
    c0 = upper(product1) ^ c1 ^ wide(key0);
    c2 = upper(product0) ^ c3 ^ wide(key1);
    c1 = product1;
    c3 = product0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  storeBlocks(out, lowHalves(c0) | shiftUp(c1, 32),
              lowHalves(c2) | shiftUp(c3, 32));
}

/// Words of elements element .. element + count - 1 (count <= kRowWords; more
/// behind them up to a whole vector): fills `buffer` (kWordBuffer words) and
/// returns where they start in it.
MTC_INLINE const uint32_t *rowWords(uint32_t *buffer, const RowStream &s,
                                    uint64_t element, int count) {
  int skip = int(element % 4);
  for (int at = 0; at < skip + count; at += 4 * kBlocks)
    philoxBlocks(buffer + at, s, element / 4 + uint64_t(at / 4));
  return buffer + skip;
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_PHILOX_BODY_H
