//===- forward.cuh - flash attention, forward -------------------*- C++ -*-===//
//
// Online softmax over steps of keys in ascending order (Milakov and Gimelshein
// 2018; Dao et al. 2022). A warp owns its rows alone. Exponents are in base 2,
// the scale in them. Keys and values of the next step are copied while this one
// is computed.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_FORWARD_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_FORWARD_CUH

#include "runtime/cuda/attention/dropout.cuh"
#include "runtime/cuda/attention/heads.cuh"
#include "runtime/cuda/attention/products.cuh"

namespace mtc::cuda {

/// Running state of the rows: maximum of the raw scores, and this lane's part
/// of the sum.
template <int M> struct Softmax {
  float max[M][2], sum[M][2];

  MTC_DEVICE Softmax() {
#pragma unroll
    for (int m = 0; m < M; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        max[m][h] = -CUDART_INF_F;
        sum[m][h] = 0;
      }
  }
};

/// The largest of a row's values of this step, which four lanes have.
template <int N> MTC_DEVICE float rowMaximum(const float (&s)[N][4], int h) {
  float top = fmaxf(s[0][2 * h], s[0][2 * h + 1]);
#pragma unroll
  for (int n = 1; n < N; ++n)
    top = fmaxf(top, fmaxf(s[n][2 * h], s[n][2 * h + 1]));
  top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
  return fmaxf(top, __shfl_xor_sync(~0u, top, 2));
}

/// Scores become exp(scale·(s - maximum)); sums and `out` follow the maximum.
template <int M, int N, int C>
MTC_DEVICE void softmaxStep(float (&s)[M][N][4], float (&out)[M][C][4],
                            Softmax<M> &state, float scale2) {
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float max = fmaxf(state.max[m][h], rowMaximum(s[m], h));
      // A row that has seen nothing yet: -inf less -inf is no number.
      float shift = max == -CUDART_INF_F ? 0 : max * scale2;
      float decay = exp2Fast(__fmaf_rn(state.max[m][h], scale2, -shift));
      state.max[m][h] = max;
      float sum = 0;
#pragma unroll
      for (int n = 0; n < N; ++n)
#pragma unroll
        for (int e = 2 * h; e < 2 * h + 2; ++e) {
          s[m][n][e] = exp2Fast(__fmaf_rn(s[m][n][e], scale2, -shift));
          sum += s[m][n][e];
        }
      state.sum[m][h] = __fmaf_rn(state.sum[m][h], decay, sum);
#pragma unroll
      for (int n = 0; n < C; ++n) {
        out[m][n][2 * h] *= decay;
        out[m][n][2 * h + 1] *= decay;
      }
    }
}

/// Writes lse, and divides `out` by the sums.
template <int M, int C>
MTC_DEVICE void finishRows(float (&out)[M][C][4], const Softmax<M> &state,
                           const AttentionParams &p, float *lse, int query) {
  int lane = int(threadIdx.x & 31);
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float sum = state.sum[m][h];
      sum += __shfl_xor_sync(~0u, sum, 1);
      sum += __shfl_xor_sync(~0u, sum, 2);
      float factor = p.dropScale / sum;
#pragma unroll
      for (int n = 0; n < C; ++n) {
        out[m][n][2 * h] *= factor;
        out[m][n][2 * h + 1] *= factor;
      }
      int row = query + m * 16 + h * 8 + lane / 4;
      if (lane % 4 == 0 && row < p.seq)
        lse[row] = state.max[m][h] * p.scale + logf(sum);
    }
}

template <Element E, int D> MTC_DEVICE void forward(const AttentionParams &p) {
  constexpr AttentionTiles kTiles = attentionTiles(AttentionKernel::forward, D);
  constexpr int M = kTiles.rowTiles, N = kTiles.step / 8;
  constexpr int kStepBytes = kTiles.step * 2 * D;
  // The last rows see most keys, so they begin.
  int tile = int(gridDim.x - 1 - blockIdx.x), head = int(blockIdx.y);
  int from = tile * kTiles.rows(), last = min(from + kTiles.rows(), p.seq) - 1;
  int warp = int(threadIdx.x / 32), own = from + warp * M * 16;
  Places places(p);
  auto k = likeK(p, p.k, head / p.group), v = likeV(p, p.v, head / p.group);
  uint32_t shared = sharedBase(), steps = shared + kTiles.rows() * 2 * D;
  uint32_t ownShared = shared + warp * M * 16 * 2 * D;
  LaneRow<D> lane;

  // Two places for the keys and values of a step, used in turn.
  auto copyStep = [&](int key, uint32_t place) {
    copyRows<D, kTiles.step, kTiles.threads()>(place, k, key);
    copyRows<D, kTiles.step, kTiles.threads()>(place + kStepBytes, v, key);
    commitCopies();
  };
  int begin = places.firstKey(from) / kTiles.step * kTiles.step;
  int end = places.endKey(last),
      ownEnd = places.endKey(places.existing(own + M * 16 - 1));
  uint32_t here = steps, there = steps + 2 * kStepBytes;
  copyRows<D, kTiles.rows(), kTiles.threads()>(shared, likeQ(p, p.q, head),
                                               from);
  copyStep(begin, here);

  float out[M][D / 8][4], s[M][N][4];
  clear(out);
  Softmax<M> state;
  float scale2 = p.scale * CUDART_L2E_F;
#pragma unroll 1
  for (int key = begin; key < end; key += kTiles.step) {
    lane.forget();
    waitForCopies<0>();
    __syncthreads();
    if (key + kTiles.step < end)
      copyStep(key + kTiles.step, there);
    if (key < ownEnd) {
      multiplyRows<E, D>(s, ownShared, here, lane);
      if (!places.seeAll(own, M * 16, key, key + kTiles.step))
        hideKeys(s, places, own, key);
      softmaxStep(s, out, state, scale2);
      Packed<M, N> probabilities;
      probabilities.template set<E>(s);
      if (p.dropThreshold) // what is kept is scaled at the end
        drop(probabilities, keepKeys<M, N>(places, head, own, key));
      addProduct<E>(out, probabilities, here + kStepBytes, 0, lane);
    }
    uint32_t other = here;
    here = there;
    there = other;
  }
  finishRows(out, state, p, p.lse + rowOffset(p, head), own);
  __syncwarp(); // other lanes may still read the rows that give their place
  storeRows<E, D>(likeOut(p, p.out, head), own, ownShared, out, 1);
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_FORWARD_CUH
