//===- backward_queries.cuh - flash attention, dq ---------------*- C++ -*-===//
//
// With P the softmax, M the dropout factors (0 or 1/(1-rate)) and D the dots:
//   dP = M∘(dout·vᵀ),  dS = P∘(dP - D),  dq = scale·dS·k.
// Laid out as forward: a warp owns rows of queries and walks over the keys in
// ascending order.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_BACKWARD_QUERIES_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_BACKWARD_QUERIES_CUH

#include "runtime/cuda/attention/dropout.cuh"
#include "runtime/cuda/attention/heads.cuh"
#include "runtime/cuda/attention/products.cuh"

namespace mtc::cuda {

/// lse in base 2, and dots, of this lane's rows.
template <int M> struct RowFacts {
  float lse[M][2], dots[M][2];

  MTC_DEVICE RowFacts(const AttentionParams &p, int head, int query) {
    int64_t offset = rowOffset(p, head);
#pragma unroll
    for (int m = 0; m < M; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        int row = query + m * 16 + h * 8 + int(threadIdx.x & 31) / 4;
        lse[m][h] = row < p.seq ? p.lse[offset + row] * CUDART_L2E_F : 0;
        dots[m][h] = row < p.seq ? p.dots[offset + row] : 0;
      }
  }
};

/// Scores become dS.
template <int M, int N>
MTC_DEVICE void gradientStep(float (&s)[M][N][4], const float (&dp)[M][N][4],
                             const RowFacts<M> &rows, float scale2) {
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float x = __fmaf_rn(s[m][n][e], scale2, -rows.lse[m][e / 2]);
        s[m][n][e] = exp2Fast(x) * (dp[m][n][e] - rows.dots[m][e / 2]);
      }
}

template <Element E, int D> MTC_DEVICE void queries(const AttentionParams &p) {
  constexpr AttentionTiles kTiles = attentionTiles(AttentionKernel::queries, D);
  constexpr int M = kTiles.rowTiles, N = kTiles.part / 8;
  constexpr int kRowBytes = 2 * D, kStepBytes = kTiles.step * kRowBytes;
  int tile = int(gridDim.x - 1 - blockIdx.x), head = int(blockIdx.y);
  int from = tile * kTiles.rows(), last = min(from + kTiles.rows(), p.seq) - 1;
  int ownRow = int(threadIdx.x / 32) * M * 16, own = from + ownRow;
  Places places(p);
  auto k = likeK(p, p.k, head / p.group), v = likeV(p, p.v, head / p.group);
  uint32_t q = sharedBase(), dout = q + kTiles.rows() * kRowBytes;
  uint32_t here = dout + kTiles.rows() * kRowBytes;
  uint32_t there = here + 2 * kStepBytes;
  LaneRow<D> lane;

  auto copyStep = [&](int key, uint32_t place) {
    copyRows<D, kTiles.step, kTiles.threads()>(place, k, key);
    copyRows<D, kTiles.step, kTiles.threads()>(place + kStepBytes, v, key);
    commitCopies();
  };
  int begin = places.firstKey(from) / kTiles.step * kTiles.step;
  int end = places.endKey(last);
  int ownEnd = places.endKey(places.existing(own + M * 16 - 1));
  copyRows<D, kTiles.rows(), kTiles.threads()>(q, likeQ(p, p.q, head), from);
  copyRows<D, kTiles.rows(), kTiles.threads()>(dout, likeOut(p, p.dout, head),
                                               from);
  copyStep(begin, here);

  RowFacts<M> rows(p, head, own);
  float dq[M][D / 8][4], s[M][N][4], dp[M][N][4];
  clear(dq);
  float scale2 = p.scale * CUDART_L2E_F;
#pragma unroll 1
  for (int key = begin; key < end; key += kTiles.step) {
    lane.forget();
    waitForCopies<0>();
    __syncthreads();
    if (key + kTiles.step < end)
      copyStep(key + kTiles.step, there);
#pragma unroll 1
    for (int i = 0; i < kTiles.step && key + i < ownEnd; i += kTiles.part) {
      int first = key + i;
      uint32_t keyRows = here + i * kRowBytes;
      multiplyRows<E, D>(s, q + ownRow * kRowBytes, keyRows, lane);
      if (!places.seeAll(own, M * 16, first, first + kTiles.part))
        hideKeys(s, places, own, first);
      multiplyRows<E, D>(dp, dout + ownRow * kRowBytes, keyRows + kStepBytes,
                         lane);
      if (p.dropThreshold)
        dropGradients(dp, keepKeys<M, N>(places, head, own, first),
                      p.dropScale);
      gradientStep(s, dp, rows, scale2);
      Packed<M, N> ds;
      ds.template set<E>(s);
      addProduct<E>(dq, ds, keyRows, 0, lane);
    }
    uint32_t other = here;
    here = there;
    there = other;
  }
  __syncwarp(); // other lanes may still read the rows that give their place
  storeRows<E, D>(likeQ(p, p.dq, head), own, q + ownRow * kRowBytes, dq,
                  p.scale);
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_BACKWARD_QUERIES_CUH
