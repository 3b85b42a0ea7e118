//===- attention_backward.h - flash attention, gradients --------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). With P the softmax, M the dropout
// factors (0 or 1/(1-rate)) and D_i = sum_e dO_ie·O_ie (Dao et al. 2022,
// appendix B.2):
//   dV = (P∘M)^T·dO,  dP = M∘(dO·V^T),  dS = P∘(dP - D),
//   dQ = scale·dS·K,  dK = scale·dS^T·Q.
// dQ sums over tiles of keys ascending; dK and dV over the heads of a group
// ascending, and in each over tiles of queries ascending.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_BACKWARD_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_BACKWARD_H

#include "runtime/kernels/cpu/attention_tiles.h"

namespace {

using mtc::runtime::AttentionGradients;

/// Arrays of one key head and, from `q` on, of one query head.
struct GradArrays {
  float *kt, *vt, *k, *dk, *dv;
  float *q, *dout, *dq;
  float *p, *ds; ///< [kTile][kTile]
  float *dot;    ///< D, [padded queries]
};

inline GradArrays gradArrays(float *s, const Plan &p) {
  GradArrays a;
  float **ofKeys[] = {&a.kt, &a.vt, &a.k, &a.dk, &a.dv};
  for (float **array : ofKeys) {
    *array = s;
    s += p.keys.floats;
  }
  float **ofQueries[] = {&a.q, &a.dout, &a.dq};
  for (float **array : ofQueries) {
    *array = s;
    s += p.queries.floats;
  }
  a.p = s;
  a.ds = a.p + kTile * kTile;
  a.dot = a.ds + kTile * kTile;
  return a;
}

/// D of every row; zero for padding.
template <typename T>
inline void rowDots(float *dot, HeadView<const T> dout, HeadView<const T> out,
                    const Plan &p) {
  for (int64_t t = 0; t < p.queries.padded; ++t) {
    const T *a = dout.p + t * dout.tokenStride;
    const T *b = out.p + t * out.tokenStride;
    int64_t dim = t < p.queries.count ? p.dim : 0, e = 0;
    F lanes = broadcast(0);
    for (; e + kW <= dim; e += kW)
      lanes = fma(load(a + e), load(b + e), lanes);
    float sum = sumLanes(lanes);
    for (; e < dim; ++e)
      sum = __builtin_fmaf(widen(a[e]), widen(b[e]), sum);
    dot[t] = sum;
  }
}

/// Scores in a.p become P∘M, dO·V^T in a.ds becomes dS; zero beyond the keys,
/// before the row's document, and in rows beyond those of the tile.
template <Sight sight>
MTC_INLINE void gradientRow(const GradArrays &a, const TileAt &at,
                            const Plan &p, const Dropper &drop,
                            const float *lse, int64_t row) {
  float *s = a.p + row * kTile, *ds = a.ds + row * kTile;
  int64_t keys = row < at.rows ? at.keysOfRow(row) : 0;
  int64_t end = roundUp(at.keysOfBlock(row / kTileRows * kTileRows), kW);
  int64_t first = sight == Sight::document ? at.firstKey(row) : 0;
  F shift = broadcast(row < at.rows ? lse[at.i0 + row] : 0);
  F dot = broadcast(a.dot[at.i0 + row]);
  uint32_t buffer[kWordBuffer];
  const uint32_t *words =
      drop.threshold ? drop.words(buffer, at, row, p.keys.count, end) : nullptr;
  F zero = broadcast(0);
  for (int64_t j = 0; j < end; j += kW) {
    F prob = expVector(load(s + j) * broadcast(p.scale) - shift);
    if constexpr (sight != Sight::whole)
      prob = firstLanes(int(keys - j), prob, zero);
    if constexpr (sight == Sight::document)
      prob = firstLanes(int(first - j), zero, prob);
    F dropped = prob, dprob = load(ds + j);
    if (words) {
      F factor = keepWhere(words + j, drop.threshold, broadcast(drop.scale));
      dropped = prob * factor;
      dprob = dprob * factor;
    }
    store(s + j, dropped);
    F gradient = prob * (dprob - dot);
    if constexpr (sight != Sight::whole)
      gradient = firstLanes(int(keys - j), gradient, zero);
    store(ds + j, gradient);
  }
}

template <Sight sight>
MTC_INLINE void gradientTile(const GradArrays &a, const TileAt &at,
                             const Plan &p, const Dropper &drop,
                             const float *lse) {
  int64_t rows = roundUp(at.rows, kTileRows);
  for (int64_t r = 0; r < rows; ++r)
    gradientRow<sight>(a, at, p, drop, lse, r);
}

template <bool byDocument>
inline void backwardTile(const GradArrays &a, const TileAt &at, const Plan &p,
                         const Dropper &drop, const float *lse) {
  if (!at.isSeen())
    return;
  if constexpr (byDocument)
    if (!at.isInDocuments())
      return;
  scoreTile(a.p, a.q, a.kt, at, p);
  scoreTile(a.ds, a.dout, a.vt, at, p);
  if constexpr (byDocument)
    gradientTile<Sight::document>(a, at, p, drop, lse);
  else if (at.isWhole())
    gradientTile<Sight::whole>(a, at, p, drop, lse);
  else
    gradientTile<Sight::keys>(a, at, p, drop, lse);
  addByRows(a.dv + at.j0 * p.headPad, a.p, a.dout, at, p);
  addByRows(a.dk + at.j0 * p.headPad, a.ds, a.q, at, p);
  addByKeys(a.dq + at.i0 * p.headPad, a.ds, a.k, at, p);
}

template <bool byDocument>
inline void backwardHead(const GradArrays &a, const Plan &p,
                         const Dropper &drop, const float *lse) {
  zeroFloats(a.dq, p.queries.floats);
  for (int64_t j0 = 0; j0 < p.keys.count; j0 += kTile)
    for (const QueryRange &range : p.ranges)
      for (int64_t i0 = range.from; i0 < range.end; i0 += kTile)
        backwardTile<byDocument>(a, tileAt(p, range, i0, j0), p, drop, lse);
}

template <bool byDocument, typename T>
void backwardOf(const AttentionCall &call, const AttentionGradients &g) {
  const MtcAttention &d = *call.shape;
  auto *qIn = (const T *)call.q, *kIn = (const T *)call.k,
       *vIn = (const T *)call.v, *dout = (const T *)g.dout,
       *out = (const T *)g.out;
  Plan p = planOf(call);
  GradArrays a = gradArrays(call.scratch, p);
  int64_t group = d.heads / d.kv_heads;
  auto viewQ = [&](auto *x, int64_t b, int64_t h) {
    return headView(x, b, d.seq, h, d.q_token_stride, d.q_head_stride);
  };
  auto viewK = [&](auto *x, int64_t b, int64_t h) {
    return headView(x, b, d.keys, h, d.k_token_stride, d.k_head_stride);
  };
  auto viewV = [&](auto *x, int64_t b, int64_t h) {
    return headView(x, b, d.keys, h, d.v_token_stride, d.v_head_stride);
  };
  auto viewO = [&](auto *x, int64_t b, int64_t h) {
    return headView(x, b, d.seq, h, d.o_token_stride, d.o_head_stride);
  };
  for (int64_t at = call.firstHead; at < call.endHead; ++at) {
    int64_t b = at / d.kv_heads, kv = at % d.kv_heads;
    p.documents = documentsOf(call, b);
    packTokens(a.k, viewK(kIn, b, kv), p.keys, p);
    packTransposed(a.kt, viewK(kIn, b, kv), p);
    packTransposed(a.vt, viewV(vIn, b, kv), p);
    zeroFloats(a.dk, 2 * p.keys.floats); // dv lies behind dk
    for (int64_t h = kv * group; h < (kv + 1) * group; ++h) {
      packTokens(a.q, viewQ(qIn, b, h), p.queries, p);
      packTokens(a.dout, viewO(dout, b, h), p.queries, p);
      rowDots(a.dot, viewO(dout, b, h), viewO(out, b, h), p);
      backwardHead<byDocument>(a, p, dropperOf(call, b, h),
                               g.lse + (b * d.heads + h) * d.seq);
      unpackTokens(viewQ((T *)g.dq, b, h), a.dq, p.queries, p, p.scale);
    }
    unpackTokens(viewK((T *)g.dk, b, kv), a.dk, p.keys, p, p.scale);
    unpackTokens(viewV((T *)g.dv, b, kv), a.dv, p.keys, p, 1.0f);
  }
}

template <typename T>
void backwardWith(const AttentionCall &call, const AttentionGradients &g) {
  if (call.documents)
    backwardOf<true, T>(call, g);
  else
    backwardOf<false, T>(call, g);
}

void attentionBackward(const AttentionCall &call,
                       const AttentionGradients &gradients) {
  if (call.shape->dtype == MTC_BF16)
    backwardWith<Bf16>(call, gradients);
  else if (call.shape->dtype == MTC_F16)
    backwardWith<F16>(call, gradients);
  else
    backwardWith<float>(call, gradients);
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_BACKWARD_H
