//===- attention_forward.h - flash attention, forward body ------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). Online softmax over tiles of keys
// in ascending order (Milakov and Gimelshein 2018; Dao et al. 2022).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_FORWARD_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_FORWARD_H

#include "runtime/base/plain_math.h"
#include "runtime/kernels/cpu/attention_pack.h"
#include "runtime/kernels/cpu/attention_softmax.h"
#ifdef __AMX_TILE__
#include "runtime/kernels/cpu/attention_segments.h"
#endif

namespace {

/// max + log(sum) of rows from i0 on; of a sum that is infinite or none,
/// itself.
MTC_INLINE void finishLse(const QueryTile &t, int64_t rows, float *lse) {
  for (int64_t r = 0; r < rows; r += kLanes) {
    auto sum = __builtin_convertvector(*(const Floats *)(t.sum + r), Doubles);
    auto max = __builtin_convertvector(*(const Floats *)(t.max + r), Doubles);
    Doubles log = mtc::runtime::plainLogOfNormal<Words, Doubles>(sum);
    Floats all =
        __builtin_convertvector(max + (sum - sum == 0.0 ? log : sum), Floats);
    for (int64_t i = 0; i < kLanes && r + i < rows; ++i)
      lse[r + i] = all[i];
  }
}

/// out of rows from i0 on.
template <typename Units, typename T>
inline void finishRows(const QueryTile &t, const Plan &p, const Dropper &drop,
                       int64_t i0, int64_t rows, HeadView<T> out) {
  for (int64_t r = 0; r < rows; ++r) {
    T *to = out.p + (i0 + r) * out.tokenStride;
    const float *from = t.out + r * p.headPad;
    float sum = t.sum[r], factor = drop.scale / sum;
    int64_t e = 0;
    for (; e + kW <= p.dim; e += kW)
      Units::storeResult(to + e, Units::kScalesAtOnce
                                     ? load(from + e) / broadcast(sum)
                                     : load(from + e) * broadcast(factor));
    for (; e < p.dim; ++e)
      narrow(Units::kScalesAtOnce ? from[e] / sum : from[e] * factor, to[e]);
  }
}

#ifndef __AMX_TILE__ // attention_segments.h has them of several tiles
/// Queries from i0 on against the keys of one tile, of which they see some.
template <typename Units, bool byDocument, Begin begin>
inline void forwardTile(const QueryTile &t, const float *q,
                        const PackedKeys &keys, const TileAt &at, const Plan &p,
                        const Dropper &drop, Fetcher &fetcher) {
  KeptTile kept(drop, at, p.keys.count, fetcher);
  scoreTile<Units>(t.scores, q, keys.kt, at, p, kept);
  if (drop.threshold)
    kept.finish();
  if constexpr (byDocument)
    softmaxTile<Units, Sight::document>(t, at, p, drop, kept);
  else if (at.isWhole())
    softmaxTile<Units, Sight::whole>(t, at, p, drop, kept);
  else
    softmaxTile<Units, Sight::keys>(t, at, p, drop, kept);
  addByKeys<Units, begin>(t.out, t.weights, keys.v, t.decay, at, p, fetcher);
}

/// The queries of a range from i0 on against all keys that they see.
template <typename Units, bool byDocument>
inline void forwardRows(const QueryRange &range, int64_t i0, const QueryTile &t,
                        const float *q, const PackedKeys &keys, const Plan &p,
                        const Dropper &drop, Fetcher &fetcher) {
  bool begun = false;
  onSeenTiles<byDocument>(p, range, i0, [&](const TileAt &at) {
    if (begun)
      forwardTile<Units, byDocument, Begin::scaled>(t, q, keys, at, p, drop,
                                                    fetcher);
    else
      forwardTile<Units, byDocument, Begin::zero>(t, q, keys, at, p, drop,
                                                  fetcher);
    begun = true;
  });
}
#endif

/// The queries of one range and head.
template <typename Units, bool byDocument, typename T>
inline void forwardRange(const QueryRange &range, const QueryTile &t,
                         const float *q, const PackedKeys &keys, const Plan &p,
                         const Dropper &drop, Fetcher &fetcher, HeadView<T> out,
                         float *lse) {
  for (int64_t i0 = range.from; i0 < range.end; i0 += kQueryRows) {
    for (int64_t r = 0; r < kQueryRows; ++r) {
      t.max[r] = kLowest<byDocument>;
      t.sum[r] = 0;
    }
    forwardRows<Units, byDocument>(range, i0, t, q, keys, p, drop, fetcher);
    int64_t rows = within(range.end - i0, 0, kQueryRows);
    finishLse(t, rows, lse + i0);
    finishRows<Units>(t, p, drop, i0, rows, out);
  }
}

/// Where all is in scratch.
struct ForwardArrays {
  float *kt, *v, *q;
  QueryTile tile;
};

template <typename Units>
inline ForwardArrays forwardArrays(float *kt, const Plan &p) {
  float *v = kt + p.keys.units, *q = v + p.keys.units;
  float *out = q + p.queries.units, *scores = out + kQueryRows * p.headPad;
  float *weights = scores, *max = scores + kSegmentTiles * kQueryRows * kTile;
  if (Units::kElements > 1 && !kHasTiles) {
    weights = max;
    max += kQueryRows * kTile / Units::kElements;
  }
  return {kt,
          v,
          q,
          {out, scores, weights, max, max + kQueryRows, max + 2 * kQueryRows}};
}

template <bool byDocument, typename T>
void forwardOf(const AttentionCall &call, T *out, float *lse) {
  using Units = typename UnitsOf<T>::Type;
  const MtcAttention &d = *call.shape;
  auto *qIn = (const T *)call.q, *kIn = (const T *)call.k,
       *vIn = (const T *)call.v;
  Plan p = planOf(call, Units::kElements);
  ForwardArrays a = forwardArrays<Units>(call.scratch, p);
  int64_t group = d.heads / d.kv_heads;
  HeadsOf heads{d};
  Fetcher fetcher(registerTiles(p, kQueryRows, 1, 1));
  int64_t bytes = (a.tile.out - call.scratch) * sizeof(float);
  auto fetchBeside = [&](int64_t at) {
    fetcher.begin(bytes);
    fetcher.add(heads.out(out, at / d.heads, at % d.heads), d.seq, p);
    if (at + 1 == call.endHead)
      return;
    int64_t b = (at + 1) / d.heads, h = (at + 1) % d.heads;
    if (h % group == 0) {
      fetcher.add(heads.k(kIn, b, h / group), d.keys, p);
      fetcher.add(heads.v(vIn, b, h / group), d.keys, p);
    }
    fetcher.add(heads.q(qIn, b, h), d.seq, p);
  };
  for (int64_t at = call.firstHead; at < call.endHead; ++at) {
    int64_t b = at / d.heads, h = at % d.heads, kv = h / group;
    p.documents = documentsOf(call, b);
    if (at == call.firstHead || h % group == 0) {
      packTransposed<Units>(a.kt, heads.k(kIn, b, kv), p);
      packAcross<Units>(a.v, heads.v(vIn, b, kv), 0, d.keys, p);
    }
    packRows<Units>(a.q, heads.q(qIn, b, h), p.queries, p);
    fetchBeside(at);
    for (const QueryRange &range : p.ranges)
      forwardRange<Units, byDocument>(
          range, a.tile, a.q, {a.kt, a.v}, p, dropperOf(call, b, h), fetcher,
          heads.out(out, b, h), lse + (b * d.heads + h) * d.seq);
  }
}

template <typename T>
void forwardWith(const AttentionCall &call, T *out, float *lse) {
  if (call.documents)
    forwardOf<true>(call, out, lse);
  else
    forwardOf<false>(call, out, lse);
}

#ifndef __AMX_TILE__ // attention_v4_amx.cpp has bf16 alone
void attentionForward(const AttentionCall &call, void *out, float *lse) {
  if (call.shape->dtype == MTC_BF16)
    forwardWith(call, (Bf16 *)out, lse);
  else if (call.shape->dtype == MTC_F16)
    forwardWith(call, (F16 *)out, lse);
  else
    forwardWith(call, (float *)out, lse);
}
#endif

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_FORWARD_H
