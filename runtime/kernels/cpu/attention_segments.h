//===- attention_segments.h - forward attention by AMX tiles ----*- C++ -*-===//
//
// Internal, for AMX. Scores of several tiles of keys are made before their
// softmax: rows have one maximum for all of them, and the sums of their product
// with values stay in registers. Weights take the place of scores, each row's
// the first half of it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_SEGMENTS_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_SEGMENTS_H

#include "runtime/kernels/cpu/attention_softmax.h"

namespace {

/// Bits of the keys of a tile that dropout keeps.
struct KeptBits {
  uint64_t rows[kQueryRows];
  MTC_INLINE void draw(KeptRow &row, int64_t index) const {
    row = KeptRow(rows + index);
  }
};

/// Tiles of keys of which some rows of queries see some.
struct Segment {
  int64_t tiles;
  TileAt at[kSegmentTiles];
  KeptBits kept[kSegmentTiles];
};

/// Where the scores of a tile of a segment are.
MTC_INLINE QueryTile tileOf(const QueryTile &t, int64_t tile) {
  QueryTile one = t;
  one.scores += tile * kQueryRows * kTile;
  one.weights = one.scores;
  return one;
}

/// Calls body(tile's scores, tile's place, its kept bits) of each tile, with
/// what its rows see of it.
template <bool byDocument, typename Body>
MTC_INLINE void onTiles(const QueryTile &t, const Segment &s, Body &&body) {
  for (int64_t i = 0; i < s.tiles; ++i) {
    const QueryTile tile = tileOf(t, i);
    if constexpr (byDocument)
      body.template operator()<Sight::document>(tile, s.at[i], s.kept[i]);
    else if (s.at[i].isWhole())
      body.template operator()<Sight::whole>(tile, s.at[i], s.kept[i]);
    else
      body.template operator()<Sight::keys>(tile, s.at[i], s.kept[i]);
  }
}

/// As softmaxRows, of all tiles of a segment.
template <typename Units, bool byDocument, bool drops>
inline void softmaxRowsOf(const QueryTile &t, const Segment &s, const Plan &p,
                          const Dropper &drop, Fetcher &fetcher, int64_t from) {
  const int64_t rows = within(s.at[0].rows - from, 0, kW);
  F lanes[kW];
  for (F &lane : lanes)
    lane = broadcast(-__builtin_inff());
  onTiles<byDocument>(t, s,
                      [&]<Sight sight>(const QueryTile &tile, const TileAt &at,
                                       const KeptBits &) {
                        for (int64_t i = 0; i < rows; ++i)
                          lanes[i] = maximum(
                              lanes[i], topOfRow<sight>(tile, at, p, from + i));
                      });
  F decay = newMaxima(t, from, lanes);
  for (F &lane : lanes)
    lane = broadcast(0);
  onTiles<byDocument>(t, s,
                      [&]<Sight sight>(const QueryTile &tile, const TileAt &at,
                                       const KeptBits &kept) {
                        for (int64_t i = 0; i < rows; ++i, fetcher.step())
                          lanes[i] =
                              lanes[i] + softmaxRow<Units, sight, drops>(
                                             tile, at, p, drop, kept, from + i);
                      });
  newSums(t, from, lanes, decay);
}

/// The tile's scores, and which of them are kept.
template <typename Units>
inline void scoresOf(const QueryTile &t, const float *q, const PackedKeys &keys,
                     const TileAt &at, KeptBits &bits, const Plan &p,
                     const Dropper &drop, Fetcher &fetcher) {
  KeptTile kept(drop, at, p.keys.count, fetcher);
  tileRows<Begin::zero>({q + at.i0 * p.rowUnits, p.rowUnits},
                        {keys.kt + at.j0 * p.dimUnits, kTile},
                        {t.scores, kTile}, {0, p.dimUnits, at.columnsOf(0)});
  if (!drop.threshold)
    return;
  kept.finish();
  for (int64_t row = 0; row < at.rows; ++row)
    bits.rows[row] = kept.bitsOf(row);
}

/// out = weights·values, or added to what it has, times its rows' factors.
template <typename Units, Begin begin>
inline void addValues(const QueryTile &t, const float *v, const Segment &s,
                      const Plan &p) {
  const Target out{t.out, p.headPad};
  beginSums<begin>(out, s.at[0].rows, p.headPad, t.decay);
  for (int64_t j = 0; j < p.headPad; j += kTileBlock) {
    const TileSums to = sumsAt({out.p + j, out.stride});
    beginTiles<begin>(to);
    for (int64_t i = 0; i < s.tiles; ++i) {
      const TileAt &at = s.at[i];
      const float *right = v + at.j0 / Units::kElements * p.headPad + j;
      addTileSteps({tileOf(t, i).weights, kTile}, {right, p.headPad}, 0,
                   unitsFor<Units>(at.keysOfBlock(0)));
    }
    storeSums(to);
  }
}

/// Queries of a segment against its keys.
template <typename Units, bool byDocument>
inline void forwardSegment(const QueryTile &t, const float *q,
                           const PackedKeys &keys, Segment &s, bool begun,
                           const Plan &p, const Dropper &drop,
                           Fetcher &fetcher) {
  for (int64_t i = 0; i < s.tiles; ++i)
    scoresOf<Units>(tileOf(t, i), q, keys, s.at[i], s.kept[i], p, drop,
                    fetcher);
  for (int64_t from = 0; from < s.at[0].rows; from += kW)
    if (drop.threshold)
      softmaxRowsOf<Units, byDocument, true>(t, s, p, drop, fetcher, from);
    else
      softmaxRowsOf<Units, byDocument, false>(t, s, p, drop, fetcher, from);
  if (begun)
    addValues<Units, Begin::scaled>(t, keys.v, s, p);
  else
    addValues<Units, Begin::zero>(t, keys.v, s, p);
}

/// The queries of a range from i0 on against all keys that they see.
template <typename Units, bool byDocument>
inline void forwardRows(const QueryRange &range, int64_t i0, const QueryTile &t,
                        const float *q, const PackedKeys &keys, const Plan &p,
                        const Dropper &drop, Fetcher &fetcher) {
  Segment s;
  s.tiles = 0;
  bool begun = false;
  auto finish = [&] {
    forwardSegment<Units, byDocument>(t, q, keys, s, begun, p, drop, fetcher);
    begun = true;
    s.tiles = 0;
  };
  // Segments begin at multiples of as many keys: which tiles a row shares one
  // with depends on no other row.
  constexpr int64_t kKeys = kSegmentTiles * kTile;
  onSeenTiles<byDocument>(p, range, i0, [&](const TileAt &at) {
    if (s.tiles > 0 && s.at[0].j0 / kKeys != at.j0 / kKeys)
      finish();
    s.at[s.tiles++] = at;
  });
  if (s.tiles > 0)
    finish();
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_SEGMENTS_H
