//===- attention_forward.h - flash attention, forward body ------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). Online softmax over tiles of keys
// in ascending order (Milakov and Gimelshein 2018; Dao et al. 2022).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_FORWARD_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_FORWARD_H

#include "runtime/base/plain_math.h"
#include "runtime/kernels/cpu/attention_dropout.h"
#include "runtime/kernels/cpu/attention_pack.h"
#include "runtime/kernels/cpu/attention_products.h"

namespace {

/// Rows that are computed together: few, so that their tiles stay in the cache
/// beside those of keys and values. Whole vectors.
constexpr int64_t kQueryRows = 32;

/// State of kQueryRows query rows.
struct QueryTile {
  float *out;       ///< [kQueryRows][headPad], unnormalised
  float *scores;    ///< [kQueryRows][kTile]
  float *weights;   ///< of units along rows: where floats are, those of scores
  float *max, *sum; ///< running, [kQueryRows]
  float *decay;     ///< of the tile at hand: factor of what was before
};

/// The maximum of a row before its first key. With documents a whole tile of
/// keys may be none of the row's, and -inf less -inf is no number.
template <bool byDocument>
inline constexpr float kLowest = byDocument ? -1e30f : -__builtin_inff();

/// Columns of a row that products read.
template <Sight sight>
MTC_INLINE int64_t columnsSeen(const TileAt &at, int64_t row) {
  return sight == Sight::whole ? kTile : at.columnsOf(row);
}

/// The largest of a row's scaled scores, lane by lane.
template <Sight sight>
MTC_INLINE F topOfRow(const QueryTile &t, const TileAt &at, const Plan &p,
                      int64_t row) {
  const float *s = t.scores + row * kTile;
  int64_t keys = at.keysOfRow(row), end = columnsSeen<sight>(at, row);
  int64_t first = sight == Sight::document ? at.firstKey(row) : 0;
  F scale = broadcast(p.scale), lowest = broadcast(-__builtin_inff());
  F top = lowest;
  for (int64_t j = 0; j < end; j += kW) {
    F x = load(s + j) * scale;
    top = maximum(top, seenLanes<sight>(x, first - j, keys - j, lowest));
  }
  return top;
}

/// What softmaxRow does with some vectors from column j on.
template <typename Units, Sight sight, bool drops, int kN>
MTC_INLINE void softmaxVectors(const QueryTile &t, const TileAt &at,
                               const Plan &p, const Dropper &drop,
                               const KeptRow &kept, int64_t row, int64_t j,
                               F &sum) {
  const float *s = t.scores + row * kTile + j;
  int64_t keys = at.keysOfRow(row) - j;
  int64_t first = sight == Sight::document ? at.firstKey(row) - j : 0;
  F scale = broadcast(p.scale), shift = broadcast(t.max[row]);
  F factor = broadcast(drop.scale), zero = broadcast(0), x[kN];
  onEach<kN>([&](int i) { x[i] = load(s + i * kW) * scale - shift; });
  expUpTo88(x); // at most the maximum
  onEach<kN>([&](int i) {
    x[i] = seenLanes<sight>(x[i], first - i * kW, keys - i * kW, zero);
    sum = sum + x[i];
    if constexpr (drops)
      x[i] = Units::kScalesAtOnce ? kept.keepTimes(j + i * kW, x[i], factor)
                                  : kept.keep(j + i * kW, x[i]);
  });
  onEach<kN>(
      [&](int i) { Units::storeAlong(t.weights, row, j + i * kW, x[i]); });
}

/// Scores become exp(s - maximum), dropped, zero beyond the keys (of -inf the
/// held exponential is not zero); those of floats are scaled as what is kept.
/// The sum before dropout, lane by lane.
template <typename Units, Sight sight, bool drops>
MTC_INLINE F softmaxRow(const QueryTile &t, const TileAt &at, const Plan &p,
                        const Dropper &drop, const KeptTile &kept,
                        int64_t row) {
  int64_t end = columnsSeen<sight>(at, row), j = 0;
  F sum = broadcast(0);
  KeptRow keptRow;
  if constexpr (drops)
    kept.draw(keptRow, row);
  for (; j + kAtOnce * kW <= end; j += kAtOnce * kW)
    softmaxVectors<Units, sight, drops, kAtOnce>(t, at, p, drop, keptRow, row,
                                                 j, sum);
  for (; j < end; j += kW)
    softmaxVectors<Units, sight, drops, 1>(t, at, p, drop, keptRow, row, j,
                                           sum);
  return sum;
}

/// Of kW rows from `from` on: the new maxima, what earlier sums must be
/// multiplied by, and the new sums.
template <typename Units, Sight sight, bool drops>
MTC_INLINE void softmaxRows(const QueryTile &t, const TileAt &at, const Plan &p,
                            const Dropper &drop, const KeptTile &kept,
                            int64_t from) {
  F lanes[kW];
  for (int64_t i = 0; i < kW; ++i)
    lanes[i] = from + i < at.rows ? topOfRow<sight>(t, at, p, from + i)
                                  : broadcast(-__builtin_inff());
  F before = load(t.max + from);
  F max = maximum(combineRows<Maximum>(lanes), before);
  F decay = expUpTo88(before - max);
  store(t.max + from, max);
  store(t.decay + from, decay);
  for (int64_t i = 0; i < kW; ++i)
    lanes[i] =
        from + i < at.rows
            ? softmaxRow<Units, sight, drops>(t, at, p, drop, kept, from + i)
            : broadcast(0);
  store(t.sum + from, fma(load(t.sum + from), decay, combineRows<Sum>(lanes)));
}

template <typename Units, Sight sight>
inline void softmaxTile(const QueryTile &t, const TileAt &at, const Plan &p,
                        const Dropper &drop, const KeptTile &kept) {
  for (int64_t from = 0; from < at.rows; from += kW)
    if (drop.threshold)
      softmaxRows<Units, sight, true>(t, at, p, drop, kept, from);
    else
      softmaxRows<Units, sight, false>(t, at, p, drop, kept, from);
}

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

/// The keys and values of one head, packed.
struct PackedKeys {
  const float *kt, *v;
};

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
    bool begun = false;
    for (int64_t j0 = 0; j0 < p.keys.count; j0 += kTile) {
      TileAt at = tileAt(p, range, i0, j0, kQueryRows);
      if (!at.isSeen())
        break;
      if constexpr (byDocument)
        if (!at.isInDocuments())
          continue;
      if (begun)
        forwardTile<Units, byDocument, Begin::scaled>(t, q, keys, at, p, drop,
                                                      fetcher);
      else
        forwardTile<Units, byDocument, Begin::zero>(t, q, keys, at, p, drop,
                                                    fetcher);
      begun = true;
    }
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
  float *weights = scores, *max = scores + kQueryRows * kTile;
  if (Units::kElements > 1) {
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
