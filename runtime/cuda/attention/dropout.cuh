//===- dropout.cuh - the planned masks of probabilities ---------*- C++ -*-===//
//
// The words of runtime/base/philox.h: of (seed, sample, layer, site) and of the
// element (head, position of the query, key) of the whole sequence.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_DROPOUT_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_DROPOUT_CUH

#include "runtime/cuda/attention/places.cuh"
#include "runtime/cuda/attention/products.cuh"

namespace mtc::cuda {

/// Philox4x32-10; its constants are those of the paper, as in philox.h.
MTC_DEVICE uint4 philox(uint4 counter, uint32_t key0, uint32_t key1) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    uint32_t low0 = 0xD2511F53u * counter.x, low1 = 0xCD9E8D57u * counter.z;
    uint32_t high0 = __umulhi(0xD2511F53u, counter.x);
    uint32_t high1 = __umulhi(0xCD9E8D57u, counter.z);
    counter = {high1 ^ counter.y ^ key0, low1, high0 ^ counter.w ^ key1, low0};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

/// Of one head of one sample. Made where it is needed, so that it takes no
/// registers elsewhere.
struct Dropper {
  uint64_t seed, id, headBase;
  uint32_t layerSite, threshold;
  int keys;

  MTC_DEVICE Dropper(const AttentionParams &p, int head) {
    seed = *p.seed;
    id = p.sample + blockIdx.z + (p.sampleBase ? *p.sampleBase : 0);
    headBase = uint64_t(p.head + head) * uint64_t(p.keys) * uint64_t(p.keys);
    layerSite = p.layerSite;
    threshold = p.dropThreshold;
    keys = p.keys;
  }

  MTC_DEVICE uint64_t element(int position, int key) const {
    return headBase + uint64_t(position) * uint64_t(keys) + uint64_t(key);
  }
  /// Bit i: element i of the Philox block that holds `element` is kept.
  MTC_DEVICE uint32_t keptOfBlock(uint64_t element) const {
    uint32_t high = uint32_t(element >> 34) << 24 | layerSite;
    uint4 w =
        philox({uint32_t(element >> 2), high, uint32_t(id), uint32_t(id >> 32)},
               uint32_t(seed), uint32_t(seed >> 32));
    return uint32_t(w.x >= threshold) | uint32_t(w.y >= threshold) << 1 |
           uint32_t(w.z >= threshold) << 2 | uint32_t(w.w >= threshold) << 3;
  }
  MTC_DEVICE uint64_t isKept(uint64_t element) const {
    return keptOfBlock(element) >> (element & 3) & 1;
  }
  /// Whether four keys from a multiple of four on are one block.
  MTC_DEVICE bool isAligned() const { return keys % 4 == 0; }
};

// Masks, all ones without dropout, of M x N times 16 x 8 elements: bit 4·(m·N +
// n) + e is whether value e of [m][n] is kept. Loops make them: unrolled they
// would be most of a kernel. Where blocks are aligned, lanes share them: each
// lane makes one block for each 16 x 8, four bits, and gets what it needs of
// the others'. Best made where few values are in registers.

/// Of a lane, for each 16 x 8, the block of row g or, for odd t, g + 8, and of
/// the columns of lanes t and t ^ 1.
template <int M, int N>
MTC_DEVICE uint64_t sharedKeys(const Dropper &drop, const Places &places,
                               int query, int key) {
  int lane = int(threadIdx.x & 31);
  int row = query + lane / 4 + lane % 2 * 8, column = key + lane / 2 % 2 * 4;
  uint64_t own = 0;
#pragma unroll 1
  for (int i = 0; i < M * N; ++i) {
    int position = places.position(row + i / N * 16);
    uint64_t element = drop.element(position, column + i % N * 8);
    own |= uint64_t(drop.keptOfBlock(element)) << (4 * i);
  }
  uint64_t other = __shfl_xor_sync(~0u, own, 1);
  int shift = lane % 2 * 2;
  uint64_t upper = (lane % 2 ? other : own) >> shift;
  uint64_t lower = (lane % 2 ? own : other) >> shift;
  constexpr uint64_t kPairs = 0x3333333333333333;
  return (upper & kPairs) | (lower & kPairs) << 2;
}

/// Rows are queries from `query` on, columns keys from `key` on.
template <int M, int N>
MTC_DEVICE uint64_t keepKeys(const Places &places, int head, int query,
                             int key) {
  static_assert(M * N <= 16);
  if (!places.p.dropThreshold)
    return ~uint64_t(0);
  Dropper drop(places.p, head);
  if (drop.isAligned())
    return sharedKeys<M, N>(drop, places, query, key);
  int lane = int(threadIdx.x & 31);
  uint64_t kept = 0;
#pragma unroll 1
  for (int i = 0; i < 4 * M * N; ++i) {
    int row = query + (i / 4 / N * 2 + i / 2 % 2) * 8 + lane / 4;
    int column = key + i / 4 % N * 8 + lane % 4 * 2 + i % 2;
    kept |= drop.isKept(drop.element(places.position(row), column)) << i;
  }
  return kept;
}

/// Of a lane, for each 16 x 8 of transposed scores, the block of value e = g
/// mod 4, and of the rows of the four lanes that have the same g / 4 and t.
template <int M, int N>
MTC_DEVICE uint64_t sharedQueries(const Dropper &drop, const Places &places,
                                  int key, int query) {
  static_assert(M * N <= 8);
  int lane = int(threadIdx.x & 31), e = lane / 4 % 4;
  int row = key + lane / 16 * 4 + e / 2 * 8;
  int column = query + lane % 4 * 2 + e % 2;
  uint32_t own = 0, kept = 0;
#pragma unroll 1
  for (int i = 0; i < M * N; ++i) {
    int position = places.position(column + i % N * 8);
    uint64_t element = drop.element(position, row + i / N * 16);
    own |= drop.keptOfBlock(element) << (4 * i);
  }
#pragma unroll
  for (int value = 0; value < 4; ++value) {
    uint32_t blocks = __shfl_sync(~0u, own, (lane & ~12) | value * 4);
    kept |= (blocks >> e & 0x11111111u) << value;
  }
  return kept;
}

/// The same of transposed scores: rows are keys, columns queries.
template <int M, int N>
MTC_DEVICE uint64_t keepQueries(const Places &places, int head, int key,
                                int query) {
  if (!places.p.dropThreshold)
    return ~uint64_t(0);
  Dropper drop(places.p, head);
  if (drop.isAligned())
    return sharedQueries<M, N>(drop, places, key, query);
  int lane = int(threadIdx.x & 31);
  uint64_t kept = 0;
#pragma unroll 1
  for (int i = 0; i < 4 * M * N; ++i) {
    int row = key + (i / 4 / N * 2 + i / 2 % 2) * 8 + lane / 4;
    int column = query + i / 4 % N * 8 + lane % 4 * 2 + i % 2;
    kept |= drop.isKept(drop.element(places.position(column), row)) << i;
  }
  return kept;
}

/// Of value e of [m][n], with N values of n.
template <int N> MTC_DEVICE bool isKept(uint64_t kept, int m, int n, int e) {
  return kept >> (4 * (m * N + n) + e) & 1;
}

/// M∘x, of the derivatives of the probabilities.
template <int M, int N>
MTC_DEVICE void dropGradients(float (&dp)[M][N][4], uint64_t kept,
                              float dropScale) {
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        dp[m][n][e] = isKept<N>(kept, m, n, e) ? dp[m][n][e] * dropScale : 0;
}

/// Dropped values become zero.
template <int M, int N>
MTC_DEVICE void drop(Packed<M, N> &values, uint64_t kept) {
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        values.x[m][n][h] &=
            (isKept<N>(kept, m, n, 2 * h) ? 0x0000ffffu : 0) |
            (isKept<N>(kept, m, n, 2 * h + 1) ? 0xffff0000u : 0);
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_DROPOUT_CUH
