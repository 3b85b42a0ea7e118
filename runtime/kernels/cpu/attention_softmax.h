//===- attention_softmax.h - softmax of some rows ---------------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). Of rows of queries, over tiles of
// keys.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_SOFTMAX_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_SOFTMAX_H

#include "runtime/kernels/cpu/attention_dropout.h"
#include "runtime/kernels/cpu/attention_products.h"

namespace {

/// Rows that are computed together: few, so that their tiles stay in the cache
/// beside those of keys and values. Whole vectors.
constexpr int64_t kQueryRows = 32;

/// Tiles of keys whose scores are there at once (attention_segments.h).
constexpr int64_t kSegmentTiles = kHasTiles ? 4 : 1;
static_assert(kSegmentTiles * kQueryRows <= 2 * kTile, "so it is planned");

/// State of kQueryRows query rows.
struct QueryTile {
  float *out;       ///< [kQueryRows][headPad], unnormalised
  float *scores;    ///< [kSegmentTiles][kQueryRows][kTile]
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

/// Floats from row to row of weights; by tiles they take the place of scores.
template <typename Units>
inline constexpr int64_t kWeightRow =
    kHasTiles ? kTile : kTile / Units::kElements;

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
  onEach<kN>(
      [&](int i) { x[i] = Units::exponent(load(s + i * kW), scale, shift); });
  Units::powers(x); // scores are at most the maximum
  onEach<kN>([&](int i) {
    x[i] = seenLanes<sight>(x[i], first - i * kW, keys - i * kW, zero);
    sum = sum + x[i];
    if constexpr (drops)
      x[i] = Units::kScalesAtOnce ? kept.keepTimes(j + i * kW, x[i], factor)
                                  : kept.keep(j + i * kW, x[i]);
  });
  Units::storeAlong(t.weights + row * kWeightRow<Units>, j, x);
}

/// Scores become exp(s - maximum), dropped, zero beyond the keys (of -inf the
/// held exponential is not zero); those of floats are scaled as what is kept.
/// The sum before dropout, lane by lane.
template <typename Units, Sight sight, bool drops, typename Kept>
MTC_INLINE F softmaxRow(const QueryTile &t, const TileAt &at, const Plan &p,
                        const Dropper &drop, const Kept &kept, int64_t row) {
  int64_t end = columnsSeen<sight>(at, row), j = 0;
  F sum = broadcast(0);
  KeptRow keptRow;
  if constexpr (drops)
    kept.draw(keptRow, row);
  for (; j + kAtOnce * kW <= end; j += kAtOnce * kW)
    softmaxVectors<Units, sight, drops, kAtOnce>(t, at, p, drop, keptRow, row,
                                                 j, sum);
  constexpr int kRest = kHasTiles ? 2 : 1; // of columnsOf
  for (; j < end; j += kRest * kW)
    softmaxVectors<Units, sight, drops, kRest>(t, at, p, drop, keptRow, row, j,
                                               sum);
  return sum;
}

/// Of kW rows from `from` on, the new maxima of rows that have these among
/// others. Gives what earlier sums must be multiplied by.
MTC_INLINE F newMaxima(const QueryTile &t, int64_t from, const F (&lanes)[kW]) {
  F before = load(t.max + from);
  F max = maximum(combineRows<Maximum>(lanes), before);
  F decay = expUpTo88(before - max);
  store(t.max + from, max);
  store(t.decay + from, decay);
  return decay;
}

/// The same of sums.
MTC_INLINE void newSums(const QueryTile &t, int64_t from, const F (&lanes)[kW],
                        F decay) {
  store(t.sum + from, fma(load(t.sum + from), decay, combineRows<Sum>(lanes)));
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
  F decay = newMaxima(t, from, lanes);
  for (int64_t i = 0; i < kW; ++i)
    lanes[i] =
        from + i < at.rows
            ? softmaxRow<Units, sight, drops>(t, at, p, drop, kept, from + i)
            : broadcast(0);
  newSums(t, from, lanes, decay);
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

/// The keys and values of one head, packed.
struct PackedKeys {
  const float *kt, *v;
};

/// Calls body(tile) for each tile of keys of which some of the queries of a
/// range from i0 on see some.
template <bool byDocument, typename Body>
MTC_INLINE void onSeenTiles(const Plan &p, const QueryRange &range, int64_t i0,
                            Body &&body) {
  for (int64_t j0 = 0; j0 < p.keys.count; j0 += kTile) {
    TileAt at = tileAt(p, range, i0, j0, kQueryRows);
    if (!at.isSeen())
      break;
    if constexpr (byDocument)
      if (!at.isInDocuments())
        continue;
    body(at);
  }
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_SOFTMAX_H
