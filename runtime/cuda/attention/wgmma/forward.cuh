//===- forward.cuh - flash attention by warpgroups, forward -----*- C++ -*-===//
//
// What ../forward.cuh computes, for heads of 64 elements: a block is a
// warpgroup with 64 rows, the left operands of its products are in registers.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_WGMMA_FORWARD_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_WGMMA_FORWARD_CUH

#include "runtime/cuda/attention/forward.cuh"
#include "runtime/cuda/attention/wgmma/groups.cuh"

namespace mtc::cuda {

/// s = own rows times those of a tile.
template <Element E>
MTC_DEVICE void scores(float (&s)[8][4], uint32_t (&rows)[4][4],
                       uint32_t tile) {
  beginProducts(s, rows);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    multiplyTile<E>(s, rows[k], columnsFrom(tileOf(tile), k), k > 0);
  commitProducts();
}

template <Element E, int D>
MTC_DEVICE void forwardByGroups(const AttentionParams &p) {
  constexpr AttentionTiles kTiles = groupTiles(AttentionKernel::forward);
  int tile = int(gridDim.x - 1 - blockIdx.x), head = int(blockIdx.y);
  int from = tile * kTiles.rows(), last = min(from + kTiles.rows(), p.seq) - 1;
  int own = from + ownRows();
  Places places(p);
  auto k = likeK(p, p.k, head / p.group), v = likeV(p, p.v, head / p.group);
  uint32_t shared = groupBase(), steps = shared + kTiles.rows() * kGroupRow;
  uint32_t ownShared = shared + ownRows() * kGroupRow;

  auto copyStep = [&](int key, uint32_t place) {
    copyRows<D, kTiles.step, kTiles.threads()>(place, k, key);
    copyRows<D, kTiles.step, kTiles.threads()>(place + kGroupTile, v, key);
    commitCopies();
  };
  int begin = places.firstKey(from) / kTiles.step * kTiles.step;
  int end = places.endKey(last);
  uint32_t here = steps, there = steps + 2 * kGroupTile;
  copyRows<D, kTiles.rows(), kTiles.threads()>(shared, likeQ(p, p.q, head),
                                               from);
  copyStep(begin, here);

  uint32_t rows[4][4];
  float out[1][8][4], s[1][8][4];
  clear(out);
  clear(s);
  Softmax<1> state;
  float scale2 = p.scale * CUDART_L2E_F;
#pragma unroll 1
  for (int key = begin; key < end; key += kTiles.step) {
    waitForCopies<0>();
    showToProducts();
    __syncthreads();
    if (key == begin)
      loadRows<D>(rows, ownShared);
    if (key + kTiles.step < end)
      copyStep(key + kTiles.step, there);
    scores<E>(s[0], rows, here);
    waitForProducts<0>();
    use(s[0]);
    if (!places.seeAll(from, kGroupRows, key, key + kTiles.step))
      hideKeys(s, places, own, key);
    softmaxStep(s, out, state, scale2);
    Packed<1, 8> probabilities;
    probabilities.template set<E>(s);
    if (p.dropThreshold) // what is kept is scaled at the end
      drop(probabilities, keepKeys<1, 8>(places, head, own, key));
    beginProducts(out[0], probabilities.x[0]);
    addRows<E>(out[0], probabilities, here + kGroupTile);
    commitProducts();
    waitForProducts<0>();
    use(out[0]);
    uint32_t other = here;
    here = there;
    there = other;
  }
  finishRows(out, state, p, p.lse + rowOffset(p, head), own);
  __syncwarp(); // other lanes may still read the rows that give their place
  storeRows<E, D>(likeOut(p, p.out, head), own, ownShared, out, 1);
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_WGMMA_FORWARD_CUH
