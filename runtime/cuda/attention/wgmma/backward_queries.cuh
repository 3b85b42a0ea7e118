//===- backward_queries.cuh - dq by warpgroups ------------------*- C++ -*-===//
//
// What ../backward_queries.cuh computes, for heads of 64 elements.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_WGMMA_BACKWARD_QUERIES_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_WGMMA_BACKWARD_QUERIES_CUH

#include "runtime/cuda/attention/backward_queries.cuh"
#include "runtime/cuda/attention/wgmma/groups.cuh"

namespace mtc::cuda {

template <Element E, int D>
MTC_DEVICE void queriesByGroups(const AttentionParams &p) {
  constexpr AttentionTiles kTiles = groupTiles(AttentionKernel::queries);
  int tile = int(gridDim.x - 1 - blockIdx.x), head = int(blockIdx.y);
  int from = tile * kTiles.rows(), last = min(from + kTiles.rows(), p.seq) - 1;
  int own = from + ownRows();
  Places places(p);
  auto k = likeK(p, p.k, head / p.group), v = likeV(p, p.v, head / p.group);
  uint32_t q = groupBase(), dout = q + kTiles.rows() * kGroupRow;
  uint32_t here = dout + kTiles.rows() * kGroupRow;
  uint32_t there = here + 2 * kGroupTile;

  auto copyStep = [&](int key, uint32_t place) {
    copyRows<D, kTiles.step, kTiles.threads()>(place, k, key);
    copyRows<D, kTiles.step, kTiles.threads()>(place + kGroupTile, v, key);
    commitCopies();
  };
  int begin = places.firstKey(from) / kTiles.step * kTiles.step;
  int end = places.endKey(last);
  copyRows<D, kTiles.rows(), kTiles.threads()>(q, likeQ(p, p.q, head), from);
  copyRows<D, kTiles.rows(), kTiles.threads()>(dout, likeOut(p, p.dout, head),
                                               from);
  copyStep(begin, here);

  RowFacts<1> rows(p, head, own);
  float dq[1][8][4], s[1][8][4], dp[1][8][4];
  clear(dq);
  clear(s);
  clear(dp);
  float scale2 = p.scale * CUDART_L2E_F;
#pragma unroll 1
  for (int key = begin; key < end; key += kTiles.step) {
    waitForCopies<0>();
    showToProducts();
    __syncthreads();
    if (key + kTiles.step < end)
      copyStep(key + kTiles.step, there);
    beginProducts(s[0], dp[0]);
    rowsTimesRows<E>(s[0], q, here);
    rowsTimesRows<E>(dp[0], dout, here + kGroupTile);
    commitProducts();
    waitForProducts<0>();
    use(s[0]);
    use(dp[0]);
    if (!places.seeAll(from, kGroupRows, key, key + kTiles.step))
      hideKeys(s, places, own, key);
    if (p.dropThreshold)
      dropGradients(dp, keepKeys<1, 8>(places, head, own, key), p.dropScale);
    gradientStep(s, dp, rows, scale2);
    Packed<1, 8> ds;
    ds.template set<E>(s);
    beginProducts(dq[0], ds.x[0]);
    addRows<E>(dq[0], ds, here);
    commitProducts();
    waitForProducts<0>();
    use(dq[0]);
    uint32_t other = here;
    here = there;
    there = other;
  }
  __syncthreads();
  storeRows<E, D>(likeQ(p, p.dq, head), own, q + ownRows() * kGroupRow, dq,
                  p.scale);
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_WGMMA_BACKWARD_QUERIES_CUH
