//===- attention_forward.h - flash attention, forward body -------*- C++
//-*-===//
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
  float *out;    ///< [kTile][headPad], unnormalised
  float *scores; ///< [kTile][kTile]
  float *max, *sum;
};

/// Row `row` of scores becomes exp(scale·s - new maximum), dropped and scaled,
/// zero beyond its keys; sum and out follow the new maximum.
MTC_INLINE void softmaxRow(const QueryTile &t, const TileAt &at, const Plan &p,
                           const Dropper &drop, int64_t row) {
  float *s = t.scores + row * kTile;
  int64_t keys = at.keysOfRow(row);
  int64_t end = roundUp(at.keysOfBlock(row / kTileRows * kTileRows), kW);
  F scale = broadcast(p.scale), lowest = broadcast(-__builtin_inff());
  F top = lowest;
  for (int64_t j = 0; j < end; j += kW) {
    F x = firstLanes(int(keys - j), load(s + j) * scale, lowest);
    store(s + j, x);
    top = maximum(top, x);
  }
  float tileMax = maxLanes(top);
  float max = tileMax > t.max[row] ? tileMax : t.max[row];
  F shift = broadcast(max), sum = broadcast(0);
  float decay = expVector(broadcast(t.max[row] - max))[0];
  uint32_t buffer[kWordBuffer];
  const uint32_t *words =
      drop.threshold ? drop.words(buffer, at, row, p.seq, end) : nullptr;
  for (int64_t j = 0; j < end; j += kW) {
    F x = expVector(load(s + j) - shift);
    x = firstLanes(int(keys - j), x, broadcast(0));
    sum = sum + x;
    if (words)
      x = keepWhere(words + j, drop.threshold, x * broadcast(drop.scale));
    store(s + j, x);
  }
  t.sum[row] = __builtin_fmaf(t.sum[row], decay, sumLanes(sum));
  t.max[row] = max;
  float *out = t.out + row * p.headPad;
  for (int64_t e = 0; e < p.headPad; e += kW)
    store(out + e, load(out + e) * broadcast(decay));
}

inline void finishRows(const QueryTile &t, const Plan &p, int64_t i0,
                       int64_t rows, HeadView<float> out, float *lse) {
  for (int64_t r = 0; r < rows; ++r) {
    lse[i0 + r] =
        float(double(t.max[r]) + mtc::runtime::plainLog(double(t.sum[r])));
    float *to = out.p + (i0 + r) * out.tokenStride;
    const float *from = t.out + r * p.headPad;
    for (int64_t e = 0; e < p.dim; ++e)
      to[e] = from[e] / t.sum[r];
  }
}

/// One query head against the packed keys and values.
inline void forwardHead(const QueryTile &t, const float *q, const float *kt,
                        const float *v, const Plan &p, const Dropper &drop,
                        HeadView<float> out, float *lse) {
  for (int64_t i0 = 0; i0 < p.seq; i0 += kTile) {
    zeroFloats(t.out, kTile * p.headPad);
    for (int64_t r = 0; r < kTile; ++r) {
      t.max[r] = -__builtin_inff();
      t.sum[r] = 0;
    }
    int64_t last = p.causal ? i0 : p.seq - 1;
    TileAt at = tileAt(p, i0, 0);
    for (int64_t j0 = 0; j0 <= last; j0 += kTile) {
      at = tileAt(p, i0, j0);
      scoreTile(t.scores, q, kt, at, p);
      int64_t rows = roundUp(at.rows, kTileRows);
      for (int64_t r = 0; r < rows; ++r)
        softmaxRow(t, at, p, drop, r);
      addByKeys(t.out, t.scores, v, at, p);
    }
    finishRows(t, p, i0, at.rows, out, lse);
  }
}

void attentionForward(const AttentionCall &call, float *out, float *lse) {
  const MtcAttention &d = *call.shape;
  Plan p = planOf(d);
  float *kt = call.scratch, *v = kt + p.arrayFloats, *q = v + p.arrayFloats;
  float *rest = q + p.arrayFloats;
  QueryTile t{rest, rest + kTile * p.headPad, nullptr, nullptr};
  t.max = t.scores + kTile * kTile;
  t.sum = t.max + kTile;
  int64_t group = d.heads / d.kv_heads;
  for (int64_t b = 0; b < d.batch; ++b)
    for (int64_t kv = 0; kv < d.kv_heads; ++kv) {
      packTransposed(
          kt, headView(call.k, d, b, kv, d.k_token_stride, d.k_head_stride), p);
      packTokens(
          v, headView(call.v, d, b, kv, d.v_token_stride, d.v_head_stride), p);
      for (int64_t h = kv * group; h < (kv + 1) * group; ++h) {
        packTokens(
            q, headView(call.q, d, b, h, d.q_token_stride, d.q_head_stride), p);
        forwardHead(t, q, kt, v, p, dropperOf(call, b, h),
                    headView(out, d, b, h, d.o_token_stride, d.o_head_stride),
                    lse + (b * d.heads + h) * d.seq);
      }
    }
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_FORWARD_H
