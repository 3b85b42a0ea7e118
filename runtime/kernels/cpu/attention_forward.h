//===- attention_forward.h - flash attention, forward body ------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). Online softmax over tiles of keys
// in ascending order (Milakov and Gimelshein 2018; Dao et al. 2022).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_FORWARD_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_FORWARD_H

#include "runtime/base/plain_math.h"
#include "runtime/kernels/cpu/attention_tiles.h"

namespace {

/// State of kTile query rows.
struct QueryTile {
  float *out;       ///< [kTile][headPad], unnormalised
  float *scores;    ///< [kTile][kTile]
  float *max, *sum; ///< running, [kTile]
  float *top,
      *decay; ///< of the tile at hand: maximum, factor of what was before
};

/// Columns of a row that the products read: whole vectors.
MTC_INLINE int64_t columnsOf(const TileAt &at, int64_t row) {
  return roundUp(at.keysOfBlock(row / kTileRows * kTileRows), kW);
}

/// The maximum of a row before its first key. With documents a whole tile of
/// keys may be none of the row's, and -inf less -inf is no number.
template <bool byDocument>
inline constexpr float kLowest = byDocument ? -1e30f : -__builtin_inff();

/// Scales a row of scores, puts -inf beyond its keys, notes its maximum.
template <Sight sight>
MTC_INLINE void scaleRow(const QueryTile &t, const TileAt &at, const Plan &p,
                         int64_t row) {
  float *s = t.scores + row * kTile;
  int64_t keys = at.keysOfRow(row), end = columnsOf(at, row);
  int64_t first = sight == Sight::document ? at.firstKey(row) : 0;
  F scale = broadcast(p.scale), lowest = broadcast(-__builtin_inff());
  F top = lowest;
  for (int64_t j = 0; j < end; j += kW) {
    F x = load(s + j) * scale;
    if constexpr (sight != Sight::whole)
      x = firstLanes(int(keys - j), x, lowest);
    if constexpr (sight == Sight::document)
      x = firstLanes(int(first - j), lowest, x);
    store(s + j, x);
    top = maximum(top, x);
  }
  t.top[row] = maxLanes(top);
}

/// New maxima of all rows at once, and what earlier sums must be multiplied by.
MTC_INLINE void updateMaxima(const QueryTile &t) {
  for (int64_t r = 0; r < kTile; r += kW) {
    F before = load(t.max + r), max = maximum(load(t.top + r), before);
    store(t.decay + r, expUpTo88(before - max));
    store(t.max + r, max);
  }
}

/// Scores become exp(s - maximum), dropped and scaled, zero beyond the keys (of
/// -inf the held exponential is not zero); sum and out follow the new maximum.
template <Sight sight>
MTC_INLINE void softmaxRow(const QueryTile &t, const TileAt &at, const Plan &p,
                           const Dropper &drop, int64_t row) {
  float *s = t.scores + row * kTile;
  int64_t keys = at.keysOfRow(row), end = columnsOf(at, row);
  int64_t first = sight == Sight::document ? at.firstKey(row) : 0;
  F shift = broadcast(t.max[row]), decay = broadcast(t.decay[row]);
  F sum = broadcast(0), zero = broadcast(0);
  uint32_t buffer[kWordBuffer];
  const uint32_t *words =
      drop.threshold ? drop.words(buffer, at, row, p.keys.count, end) : nullptr;
  for (int64_t j = 0; j < end; j += kW) {
    F x = expUpTo88(load(s + j) - shift); // at most the maximum
    if constexpr (sight != Sight::whole)
      x = firstLanes(int(keys - j), x, zero);
    if constexpr (sight == Sight::document)
      x = firstLanes(int(first - j), zero, x);
    sum = sum + x;
    if (words)
      x = keepWhere(words + j, drop.threshold, x * broadcast(drop.scale));
    store(s + j, x);
  }
  t.sum[row] = __builtin_fmaf(t.sum[row], t.decay[row], sumLanes(sum));
  if (at.j0 == 0)
    return; // out is zero
  float *out = t.out + row * p.headPad;
  for (int64_t e = 0; e < p.headPad; e += kW)
    store(out + e, load(out + e) * decay);
}

template <Sight sight>
MTC_INLINE void softmaxTile(const QueryTile &t, const TileAt &at, const Plan &p,
                            const Dropper &drop) {
  int64_t rows = roundUp(at.rows, kTileRows);
  for (int64_t r = 0; r < rows; ++r)
    scaleRow<sight>(t, at, p, r);
  updateMaxima(t);
  for (int64_t r = 0; r < rows; ++r)
    softmaxRow<sight>(t, at, p, drop, r);
}

template <typename T>
inline void finishRows(const QueryTile &t, const Plan &p, int64_t i0,
                       int64_t rows, HeadView<T> out, float *lse) {
  for (int64_t r = 0; r < rows; ++r) {
    lse[i0 + r] =
        float(double(t.max[r]) + mtc::runtime::plainLog(double(t.sum[r])));
    T *to = out.p + (i0 + r) * out.tokenStride;
    const float *from = t.out + r * p.headPad;
    for (int64_t e = 0; e < p.dim; ++e)
      narrow(from[e] / t.sum[r], to[e]);
  }
}

/// The queries of one range and head against the packed keys and values.
template <bool byDocument, typename T>
inline void forwardRange(const QueryRange &range, const QueryTile &t,
                         const float *q, const float *kt, const float *v,
                         const Plan &p, const Dropper &drop, HeadView<T> out,
                         float *lse) {
  for (int64_t i0 = range.from; i0 < range.end; i0 += kTile) {
    zeroFloats(t.out, kTile * p.headPad);
    for (int64_t r = 0; r < kTile; ++r) {
      t.max[r] = t.top[r] = kLowest<byDocument>;
      t.sum[r] = 0;
    }
    TileAt at = tileAt(p, range, i0, 0);
    for (int64_t j0 = 0; j0 < p.keys.count; j0 += kTile) {
      at = tileAt(p, range, i0, j0);
      if (!at.isSeen())
        break;
      if constexpr (byDocument)
        if (!at.isInDocuments())
          continue;
      scoreTile(t.scores, q, kt, at, p);
      if constexpr (byDocument)
        softmaxTile<Sight::document>(t, at, p, drop);
      else if (at.isWhole())
        softmaxTile<Sight::whole>(t, at, p, drop);
      else
        softmaxTile<Sight::keys>(t, at, p, drop);
      addByKeys(t.out, t.scores, v, at, p);
    }
    finishRows(t, p, i0, at.rows, out, lse);
  }
}

template <bool byDocument, typename T>
void forwardOf(const AttentionCall &call, T *out, float *lse) {
  const MtcAttention &d = *call.shape;
  auto *qIn = (const T *)call.q, *kIn = (const T *)call.k,
       *vIn = (const T *)call.v;
  Plan p = planOf(call);
  float *kt = call.scratch, *v = kt + p.keys.floats, *q = v + p.keys.floats;
  float *rest = q + p.queries.floats;
  float *scores = rest + kTile * p.headPad, *rows = scores + kTile * kTile;
  QueryTile t{rest,         scores,           rows,
              rows + kTile, rows + 2 * kTile, rows + 3 * kTile};
  int64_t group = d.heads / d.kv_heads;
  for (int64_t at = call.firstHead; at < call.endHead; ++at) {
    int64_t b = at / d.heads, h = at % d.heads, kv = h / group;
    p.documents = documentsOf(call, b);
    if (at == call.firstHead || h % group == 0) {
      packTransposed(
          kt, headView(kIn, b, d.keys, kv, d.k_token_stride, d.k_head_stride),
          p);
      packTokens(
          v, headView(vIn, b, d.keys, kv, d.v_token_stride, d.v_head_stride),
          p.keys, p);
    }
    packTokens(q, headView(qIn, b, d.seq, h, d.q_token_stride, d.q_head_stride),
               p.queries, p);
    for (const QueryRange &range : p.ranges)
      forwardRange<byDocument>(
          range, t, q, kt, v, p, dropperOf(call, b, h),
          headView(out, b, d.seq, h, d.o_token_stride, d.o_head_stride),
          lse + (b * d.heads + h) * d.seq);
  }
}

template <typename T>
void forwardWith(const AttentionCall &call, T *out, float *lse) {
  if (call.documents)
    forwardOf<true>(call, out, lse);
  else
    forwardOf<false>(call, out, lse);
}

void attentionForward(const AttentionCall &call, void *out, float *lse) {
  if (call.shape->dtype == MTC_BF16)
    forwardWith(call, (Bf16 *)out, lse);
  else if (call.shape->dtype == MTC_F16)
    forwardWith(call, (F16 *)out, lse);
  else
    forwardWith(call, (float *)out, lse);
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_FORWARD_H
