//===- floats.cuh - attention of fp32 elements ------------------*- C++ -*-===//
//
// A warp has one row: of queries, which goes through its keys, or of keys,
// which goes through the queries that see it. Lane l has elements l, l + 32 and
// so on. Every sum is a fixed tree over the lanes, and ascends along the other
// side: equal calls give equal bits. There are no tensor cores for fp32, and no
// tile: it is for numbers that have to be fp32, not for speed.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_FLOATS_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_FLOATS_CUH

#include "runtime/cuda/attention/dropout.cuh"
#include "runtime/cuda/attention/heads.cuh"

namespace mtc::cuda {

/// A row of a head, of D elements or fewer; zeros behind its own.
template <int D> struct FloatRow {
  float x[D / 32];

  /// `at`: the first element in memory.
  MTC_DEVICE static FloatRow load(const AttentionParams &p, const float *at) {
    FloatRow row;
    int lane = int(threadIdx.x & 31);
#pragma unroll
    for (int i = 0; i < D / 32; ++i)
      row.x[i] = lane + 32 * i < p.headDim ? at[lane + 32 * i] : 0;
    return row;
  }
  MTC_DEVICE static FloatRow zero() {
    FloatRow row;
#pragma unroll
    for (int i = 0; i < D / 32; ++i)
      row.x[i] = 0;
    return row;
  }
  MTC_DEVICE void store(const AttentionParams &p, float *at) const {
    int lane = int(threadIdx.x & 31);
#pragma unroll
    for (int i = 0; i < D / 32; ++i)
      if (lane + 32 * i < p.headDim)
        at[lane + 32 * i] = x[i];
  }
  /// The product, in all lanes.
  MTC_DEVICE float dot(const FloatRow &other) const {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < D / 32; ++i)
      sum = __fmaf_rn(x[i], other.x[i], sum);
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(~0u, sum, distance);
    return sum;
  }
  MTC_DEVICE void scale(float factor) {
#pragma unroll
    for (int i = 0; i < D / 32; ++i)
      x[i] *= factor;
  }
  MTC_DEVICE void add(float factor, const FloatRow &other) {
#pragma unroll
    for (int i = 0; i < D / 32; ++i)
      x[i] = __fmaf_rn(factor, other.x[i], x[i]);
  }
};

/// The row of this warp; it may not exist.
MTC_DEVICE int floatRow() {
  return int(blockIdx.x) * kFloatRows + int(threadIdx.x / 32);
}

// First elements of row `row` of a head of the block's sample.
MTC_DEVICE float *floatsLikeQ(const AttentionParams &p, const void *x, int row,
                              int head) {
  int64_t token = int64_t(blockIdx.z) * p.seq + row;
  return (float *)x + token * p.qToken + head * p.qHead;
}
MTC_DEVICE float *floatsLikeK(const AttentionParams &p, const void *x, int row,
                              int head) {
  int64_t token = int64_t(blockIdx.z) * p.keys + row;
  return (float *)x + token * p.kToken + head * p.kHead;
}
MTC_DEVICE float *floatsLikeV(const AttentionParams &p, const void *x, int row,
                              int head) {
  int64_t token = int64_t(blockIdx.z) * p.keys + row;
  return (float *)x + token * p.vToken + head * p.vHead;
}
MTC_DEVICE float *floatsLikeOut(const AttentionParams &p, const void *x,
                                int row, int head) {
  int64_t token = int64_t(blockIdx.z) * p.seq + row;
  return (float *)x + token * p.oToken + head * p.oHead;
}

/// What a probability is multiplied with: 0, or the scale of those that are
/// kept.
MTC_DEVICE float dropFactor(const Places &places, int head, int query,
                            int key) {
  if (!places.p.dropThreshold)
    return 1;
  Dropper drop(places.p, head);
  bool kept = drop.isKept(drop.element(places.position(query), key));
  return kept ? places.p.dropScale : 0;
}

/// Online softmax (Milakov and Gimelshein 2018) along the keys of a query.
template <int D> MTC_DEVICE void floatForward(const AttentionParams &p) {
  int row = floatRow(), head = int(blockIdx.y), keyHead = head / p.group;
  if (row >= p.seq)
    return;
  Places places(p);
  auto q = FloatRow<D>::load(p, floatsLikeQ(p, p.q, row, head));
  auto sum = FloatRow<D>::zero();
  float top = -CUDART_INF_F, total = 0;
  int end = places.endKey(row);
  for (int j = places.firstKey(row); j < end; ++j) {
    auto k = FloatRow<D>::load(p, floatsLikeK(p, p.k, j, keyHead));
    float s = p.scale * q.dot(k), higher = fmaxf(top, s);
    float shrink = expf(top - higher), e = expf(s - higher);
    top = higher;
    total = __fmaf_rn(total, shrink, e);
    sum.scale(shrink);
    sum.add(e * dropFactor(places, head, row, j),
            FloatRow<D>::load(p, floatsLikeV(p, p.v, j, keyHead)));
  }
  sum.scale(1 / total);
  sum.store(p, floatsLikeOut(p, p.out, row, head));
  if (threadIdx.x % 32 == 0)
    p.lse[rowOffset(p, head) + row] = top + logf(total);
}

template <int D> MTC_DEVICE void floatDots(const AttentionParams &p) {
  int row = floatRow(), head = int(blockIdx.y);
  if (row >= p.seq)
    return;
  auto out = FloatRow<D>::load(p, floatsLikeOut(p, p.out, row, head));
  auto dout = FloatRow<D>::load(p, floatsLikeOut(p, p.dout, row, head));
  float sum = dout.dot(out);
  if (threadIdx.x % 32 == 0)
    p.dots[rowOffset(p, head) + row] = sum;
}

/// Of a query and a key that it sees: the probability, also with its mask, and
/// the derivative of the score without its scale.
struct FloatPair {
  float dropped, ds;
};
template <int D>
MTC_DEVICE FloatPair floatPair(const Places &places, int head, int query,
                               int key, const FloatRow<D> &q,
                               const FloatRow<D> &k, const FloatRow<D> &v,
                               const FloatRow<D> &dout) {
  const AttentionParams &p = places.p;
  int64_t row = rowOffset(p, head) + query;
  float probability = expf(p.scale * q.dot(k) - p.lse[row]);
  float factor = dropFactor(places, head, query, key);
  return {probability * factor,
          probability * (dout.dot(v) * factor - p.dots[row])};
}

template <int D> MTC_DEVICE void floatQueries(const AttentionParams &p) {
  int row = floatRow(), head = int(blockIdx.y), keyHead = head / p.group;
  if (row >= p.seq)
    return;
  Places places(p);
  auto q = FloatRow<D>::load(p, floatsLikeQ(p, p.q, row, head));
  auto dout = FloatRow<D>::load(p, floatsLikeOut(p, p.dout, row, head));
  auto dq = FloatRow<D>::zero();
  int end = places.endKey(row);
  for (int j = places.firstKey(row); j < end; ++j) {
    auto k = FloatRow<D>::load(p, floatsLikeK(p, p.k, j, keyHead));
    auto v = FloatRow<D>::load(p, floatsLikeV(p, p.v, j, keyHead));
    dq.add(floatPair<D>(places, head, row, j, q, k, v, dout).ds, k);
  }
  dq.scale(p.scale);
  dq.store(p, floatsLikeQ(p, p.dq, row, head));
}

/// Of a key head: the queries of all heads that read it.
template <int D> MTC_DEVICE void floatKeys(const AttentionParams &p) {
  int row = floatRow(), keyHead = int(blockIdx.y);
  if (row >= p.keys)
    return;
  Places places(p);
  auto k = FloatRow<D>::load(p, floatsLikeK(p, p.k, row, keyHead));
  auto v = FloatRow<D>::load(p, floatsLikeV(p, p.v, row, keyHead));
  auto dk = FloatRow<D>::zero(), dv = FloatRow<D>::zero();
  for (int head = keyHead * p.group; head < (keyHead + 1) * p.group; ++head)
    for (int i = places.firstQuery(row); i < p.seq; ++i) {
      if (row < places.firstKey(i) || row >= places.endKey(i))
        continue;
      auto q = FloatRow<D>::load(p, floatsLikeQ(p, p.q, i, head));
      auto dout = FloatRow<D>::load(p, floatsLikeOut(p, p.dout, i, head));
      FloatPair pair = floatPair<D>(places, head, i, row, q, k, v, dout);
      dv.add(pair.dropped, dout);
      dk.add(pair.ds, q);
    }
  dk.scale(p.scale);
  dk.store(p, floatsLikeK(p, p.dk, row, keyHead));
  dv.store(p, floatsLikeV(p, p.dv, row, keyHead));
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_FLOATS_CUH
