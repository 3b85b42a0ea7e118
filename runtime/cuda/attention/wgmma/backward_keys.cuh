//===- backward_keys.cuh - dk and dv by warpgroups --------------*- C++ -*-===//
//
// What ../backward_keys.cuh computes, for heads of 64 elements. While the
// product behind dP runs, the probabilities are computed, and while that of dv
// runs, dS.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_WGMMA_BACKWARD_KEYS_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_WGMMA_BACKWARD_KEYS_CUH

#include "runtime/cuda/attention/backward_keys.cuh"
#include "runtime/cuda/attention/wgmma/groups.cuh"

namespace mtc::cuda {

/// Where a step of 64 queries lies: tiles of q and dout, lse and dots.
struct GroupQueries {
  uint32_t q, dout, lse, dots;

  /// Behind the tiles of keys at `base`, and there of two places.
  MTC_DEVICE GroupQueries(uint32_t base, int keyRows, int place) {
    uint32_t tiles = base + 2 * keyRows * kGroupRow;
    uint32_t facts = tiles + 4 * kGroupTile;
    q = tiles + place * 2 * kGroupTile;
    dout = q + kGroupTile;
    lse = facts + place * 8 * kGroupRows;
    dots = lse + 4 * kGroupRows;
  }
};

template <int D, int Threads>
MTC_DEVICE void copyQueries(const AttentionParams &p, int head, int query,
                            const GroupQueries &to) {
  copyRows<D, kGroupRows, Threads>(to.q, likeQ(p, p.q, head), query);
  copyRows<D, kGroupRows, Threads>(to.dout, likeOut(p, p.dout, head), query);
  int i = int(threadIdx.x) % kGroupRows;
  const float *from = threadIdx.x < kGroupRows ? p.lse : p.dots;
  bool exists = query + i < p.seq;
  if (threadIdx.x < 2 * kGroupRows)
    copyAsync4(to.lse + 4 * threadIdx.x,
               from + rowOffset(p, head) + (exists ? query + i : 0), exists);
  commitCopies();
}

/// Adds to the dk and dv of a warpgroup, whose tiles of keys and values lie at
/// `k` and `v`, what 64 queries give.
template <Element E>
MTC_DEVICE void addQueries(float (&dk)[1][8][4], float (&dv)[1][8][4],
                           const Places &places, int keys, uint32_t k,
                           uint32_t v, const GroupQueries &at, int query,
                           int head) {
  const AttentionParams &p = places.p;
  int own = keys + ownRows();
  float s[1][8][4], dp[1][8][4];
  clear(s);
  clear(dp);
  uint64_t kept = keepQueries<1, 8>(places, head, own, query);
  beginProducts(s[0], dp[0]);
  rowsTimesRows<E>(s[0], k, at.q);
  commitProducts();
  rowsTimesRows<E>(dp[0], v, at.dout);
  commitProducts();
  waitForProducts<1>();
  use(s[0]);
  if (!places.seeAll(query, kGroupRows, keys, keys + kGroupRows))
    hideQueries(s, places, own, query);
  probabilities(s, at.lse, p.scale * CUDART_L2E_F);
  Packed<1, 8> left;
  left.template set<E>(s);
  if (p.dropThreshold) // what is kept of P is scaled at the end
    drop(left, kept);
  beginProducts(dv[0], left.x[0]);
  addRows<E>(dv[0], left, at.dout);
  commitProducts();
  waitForProducts<1>();
  use(dp[0]);
  if (p.dropThreshold)
    dropGradients(dp, kept, p.dropScale);
  gradientsOfKeys(dp, s, at.dots);
  Packed<1, 8> gradients;
  gradients.template set<E>(dp);
  beginProducts(dk[0], gradients.x[0]);
  addRows<E>(dk[0], gradients, at.q);
  commitProducts();
  waitForProducts<0>();
  use(dv[0]);
  use(dk[0]);
}

template <Element E, int D>
MTC_DEVICE void keysByGroups(const AttentionParams &p) {
  constexpr AttentionTiles kTiles = groupTiles(AttentionKernel::keys);
  constexpr int kThreads = kTiles.threads();
  int head = int(blockIdx.y), from = int(blockIdx.x) * kTiles.rows();
  Places places(p);
  uint32_t k = groupBase(), v = k + kTiles.rows() * kGroupRow;

  int begin = places.firstQuery(from) / kTiles.step * kTiles.step;
  int end = endQuery(places, begin, from + kTiles.rows(), kTiles.step);
  copyRows<D, kTiles.rows(), kThreads>(k, likeK(p, p.k, head), from);
  copyRows<D, kTiles.rows(), kThreads>(v, likeV(p, p.v, head), from);
  commitCopies();
  int reader = head * p.group, lastReader = reader + p.group - 1;
  if (begin < end)
    copyQueries<D, kThreads>(p, reader, begin,
                             GroupQueries(k, kTiles.rows(), 0));

  float dk[1][8][4], dv[1][8][4];
  clear(dk);
  clear(dv);
  int query = begin, place = 0;
#pragma unroll 1
  while (query < end) {
    int nextQuery = query + kTiles.step, nextReader = reader;
    if (nextQuery >= end && reader < lastReader) {
      nextQuery = begin;
      ++nextReader;
    }
    waitForCopies<0>();
    showToProducts();
    __syncthreads();
    if (nextQuery < end)
      copyQueries<D, kThreads>(p, nextReader, nextQuery,
                               GroupQueries(k, kTiles.rows(), 1 - place));
    if (from < places.endKey(places.existing(query + kTiles.step - 1)))
      addQueries<E>(dk, dv, places, from, k, v,
                    GroupQueries(k, kTiles.rows(), place), query, reader);
    place = 1 - place;
    query = nextQuery;
    reader = nextReader;
  }
  waitForCopies<0>(); // where no query sees the keys
  __syncthreads();
  uint32_t rows = ownRows() * kGroupRow;
  int own = from + ownRows();
  storeRows<E, D>(likeK(p, p.dk, head), own, k + rows, dk, p.scale);
  storeRows<E, D>(likeV(p, p.dv, head), own, v + rows, dv, p.dropScale);
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_WGMMA_BACKWARD_KEYS_CUH
