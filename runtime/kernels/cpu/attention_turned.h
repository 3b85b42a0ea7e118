//===- attention_turned.h - gradients of attention by AMX tiles -*- C++ -*-===//
//
// Internal, for AMX. Of 32 rows of queries at a time the two products of scores
// and what is made of them stay in the first cache; P∘M and dS are turned, 16
// columns after the other, and products of some tiles of queries go by them
// while sums for keys and values stay in registers.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_TURNED_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_TURNED_H

#include "runtime/kernels/cpu/attention_gradient.h"
#include "runtime/kernels/cpu/transpose.h"

namespace {

static_assert(kScoreRows == kTileBlock);

/// Tiles of queries of which P∘M and dS are kept, and their units in a row.
constexpr int64_t kTurnedTiles = 4;
constexpr int64_t kTurnedUnits = kTurnedTiles * kGradientRows / 2;

/// 32 rows of a tile from `from` on.
struct HalfTile {
  TileAt at;
  int64_t from, columns; ///< columns: that products have
  int64_t unit;          ///< of the first row, in turned arrays
  float shift[kTileBlock], dot[kTileBlock]; ///< of each row; of none zero
  /// Where units along rows are.
  MTC_INLINE float *along(const GradArrays &a) const {
    return a.dsAlong + from * kTile / 2;
  }
};

/// P∘M and dS of a tile of keys: [key][unit of queries], of tiles of queries
/// that follow each other. 64 KiB of a thread's stack, which the scratch that
/// is planned for the fewest keys has no room for.
struct Turned {
  alignas(64) float p[kTile * kTurnedUnits];
  alignas(64) float ds[kTile * kTurnedUnits];
  int64_t tiles = 0, units = 0;
  TileAt first;
  bool isBegun; ///< whether sums for the keys have something
  /// Rows of which dQ is to be added: a product right behind what it reads
  /// would wait until that is out of the store buffer.
  HalfTile rows[2];
  const HalfTile *waits = nullptr;
};

/// Row `row` of the half.
template <Sight sight>
MTC_INLINE void beginRow(GradientRow &r, const GradArrays &a,
                         const HalfTile &half, int64_t row) {
  r.scores = a.p + row * kTile;
  r.dprobs = a.ds + row * kTile;
  r.shift = broadcast(half.shift[row]);
  r.dot = broadcast(half.dot[row]);
  if constexpr (sight == Sight::whole)
    return;
  const int64_t at = half.from + row;
  r.keys = at < half.at.rows ? half.at.keysOfRow(at) : 0;
  if constexpr (sight == Sight::document)
    r.first = half.at.firstKey(at);
}

/// Of four rows from `row` on, and 16 columns from j on: two units of P∘M and
/// two of dS.
template <typename Units, Sight sight, bool drops>
MTC_INLINE void gradientRowsOf(const GradArrays &a, const HalfTile &half,
                               const Plan &p, const Dropper &drop,
                               const KeptTile &kept, int64_t row, int64_t j,
                               F *probs, F *gradients) {
  constexpr int kRows = 4;
  GradientRow rows[kRows];
  F x[kRows], weight[kRows], gradient[kRows];
  onEach<kRows>([&](int i) {
    beginRow<sight>(rows[i], a, half, row + i);
    if constexpr (drops)
      kept.draw(rows[i].kept, half.from + row + i);
    x[i] = Units::exponent(load(rows[i].scores + j), broadcast(p.scale),
                           rows[i].shift);
  });
  Units::anyPowers(x);
  onEach<kRows>([&](int i) {
    gradientOf<Units, sight, drops>(rows[i], x[i], j, broadcast(drop.scale),
                                    weight[i], gradient[i]);
  });
  for (int i = 0; i < 2; ++i) {
    probs[i] =
        Units::pairsOf(Units::halvesOf(weight[2 * i], weight[2 * i + 1]));
    const U halves = Units::halvesOf(gradient[2 * i], gradient[2 * i + 1]);
    gradients[i] = Units::pairsOf(halves);
    Units::storeTwoAlong(half.along(a) + (row + 2 * i) * kTile / 2, kTile / 2,
                         j, halves);
  }
}

/// 16 units from a turned array's column on.
MTC_INLINE void storeTurned(float *to, F (&units)[kW]) {
  transpose(units);
#pragma GCC unroll 16
  for (int i = 0; i < kW; ++i)
    store(to + i * kTurnedUnits, units[i]);
}

template <typename Units, Sight sight, bool drops>
inline void gradientHalf(const GradArrays &a, Turned &turned,
                         const HalfTile &half, const Plan &p,
                         const Dropper &drop, const KeptTile &kept,
                         Fetcher &fetcher) {
  for (int64_t j = 0; j < half.columns; j += kW) {
    F probs[kW], gradients[kW];
#pragma GCC unroll 1
    for (int64_t unit = 0; unit < kW; unit += 2, fetcher.step())
      gradientRowsOf<Units, sight, drops>(a, half, p, drop, kept, 2 * unit, j,
                                          probs + unit, gradients + unit);
    const int64_t at = j * kTurnedUnits + half.unit;
    storeTurned(turned.p + at, probs);
    storeTurned(turned.ds + at, gradients);
  }
}

template <typename Units, Sight sight>
inline void gradientHalf(const GradArrays &a, Turned &turned,
                         const HalfTile &half, const Plan &p,
                         const Dropper &drop, const KeptTile &kept,
                         Fetcher &fetcher) {
  if (drop.threshold)
    gradientHalf<Units, sight, true>(a, turned, half, p, drop, kept, fetcher);
  else
    gradientHalf<Units, sight, false>(a, turned, half, p, drop, kept, fetcher);
}

/// dQ of the rows, in which the first tile of keys begins sums.
template <typename Units, bool byDocument>
inline void addQueries(const GradArrays &a, const HalfTile &half,
                       const Plan &p) {
  const TileAt &at = half.at;
  const Extent e{0, unitsFor<Units>(at.keysOfBlock(half.from)), p.headPad};
  const Rows ds{half.along(a), kTile / 2},
      k{a.k + at.j0 / Units::kElements * p.headPad, p.headPad};
  const Target dq{a.dq + (at.i0 + half.from) * p.headPad, p.headPad};
  const int64_t rows = at.rows - half.from; // those behind are another range's
  const bool begins = !byDocument && at.j0 == 0;
  if (begins && rows >= kTileBlock)
    tileRows<Begin::zero>(ds, k, dq, e);
  else if (begins)
    tileSomeRows<Begin::zero>(rows, ds, k, dq, e);
  else if (rows >= kTileBlock)
    tileRows<Begin::present>(ds, k, dq, e);
  else
    tileSomeRows<Begin::present>(rows, ds, k, dq, e);
}

template <typename Units, bool byDocument>
inline void finishQueries(const GradArrays &a, Turned &turned, const Plan &p) {
  if (turned.waits)
    addQueries<Units, byDocument>(a, *turned.waits, p);
  turned.waits = nullptr;
}

/// The half of a tile that begins with row `from`.
template <typename Units>
MTC_INLINE void beginHalf(HalfTile &half, const GradArrays &a, const TileAt &at,
                          int64_t from, int64_t unit, const float *lse) {
  half.at = at;
  half.from = from;
  half.columns = at.columnsOf(from);
  half.unit = unit + from / Units::kElements;
  const int64_t rows = within(at.rows - from, 0, kTileBlock);
  for (int64_t r = 0; r < kTileBlock; ++r) {
    half.shift[r] = r < rows ? lse[at.i0 + from + r] : 0;
    half.dot[r] = r < rows ? a.dot[at.i0 + from + r] : 0;
  }
}

template <typename Units, bool byDocument>
inline void backwardHalf(const GradArrays &a, Turned &turned,
                         const HalfTile &half, const Plan &p,
                         const Dropper &drop, const KeptTile &kept,
                         Fetcher &fetcher) {
  const TileAt &at = half.at;
  const int64_t row = (at.i0 + half.from) * p.rowUnits,
                key = at.j0 * p.dimUnits;
  const Extent e{0, p.dimUnits, half.columns};
  tileRows<Begin::zero>({a.q + row, p.rowUnits}, {a.kt + key, kTile},
                        {a.p, kTile}, e);
  tileRows<Begin::zero>({a.dout + row, p.rowUnits}, {a.vt + key, kTile},
                        {a.ds, kTile}, e);
  finishQueries<Units, byDocument>(a, turned, p);
  if constexpr (byDocument)
    gradientHalf<Units, Sight::document>(a, turned, half, p, drop, kept,
                                         fetcher);
  else if (at.isWhole() && half.from + kTileBlock <= at.rows)
    gradientHalf<Units, Sight::whole>(a, turned, half, p, drop, kept, fetcher);
  else
    gradientHalf<Units, Sight::keys>(a, turned, half, p, drop, kept, fetcher);
  turned.waits = &half;
}

/// sums[keys of the tile] += turned·b, where units that no row of the first
/// tile needs are left out.
template <typename Units, Begin begin>
inline void addKeys(const Turned &t, const float *turned, float *sums,
                    const float *b, const Plan &p) {
  const TileAt &at = t.first;
  for (int64_t key = 0; key < at.keys; key += kTileBlock) {
    const int64_t first = at.firstRow(key);
    const int64_t from = first < at.rows ? first / kTileBlock * kStepUnits
                                         : unitsFor<Units>(at.rows);
    tileRows<begin>({turned + key * kTurnedUnits, kTurnedUnits},
                    {b + at.unit * p.headPad, p.headPad},
                    {sums + (at.j0 + key) * p.headPad, p.headPad},
                    {from, t.units, p.headPad});
  }
}

/// Adds what is turned to the sums for its keys.
template <typename Units>
inline void addTurned(const GradArrays &a, Turned &t, const Plan &p) {
  if (t.tiles == 0)
    return;
  if (t.isBegun) {
    addKeys<Units, Begin::present>(t, t.p, a.dv, a.doutAcross, p);
    addKeys<Units, Begin::present>(t, t.ds, a.dk, a.qAcross, p);
  } else {
    addKeys<Units, Begin::zero>(t, t.p, a.dv, a.doutAcross, p);
    addKeys<Units, Begin::zero>(t, t.ds, a.dk, a.qAcross, p);
  }
  t.isBegun = true;
  t.tiles = t.units = 0;
}

template <typename Units, bool byDocument>
inline void backwardTile(const GradArrays &a, Turned &turned, const TileAt &at,
                         const Plan &p, const Dropper &drop, Fetcher &fetcher,
                         const float *lse) {
  if (!at.isNeeded<byDocument>())
    return;
  // Behind the first tile all rows have all columns, and units follow.
  if (turned.tiles == kTurnedTiles ||
      (turned.tiles > 0 &&
       (turned.first.unit + turned.units != at.unit || at.ahead < 1)))
    addTurned<Units>(a, turned, p);
  if (turned.tiles == 0)
    turned.first = at;
  KeptTile kept(drop, at, p.keys.count, fetcher);
  if (drop.threshold)
    kept.finish();
  for (int64_t from = 0; from < at.rows; from += kTileBlock) {
    HalfTile &half = turned.rows[from / kTileBlock];
    if (turned.waits == &half) // of a tile of fewer rows
      finishQueries<Units, byDocument>(a, turned, p);
    beginHalf<Units>(half, a, at, from, turned.units, lse);
    backwardHalf<Units, byDocument>(a, turned, half, p, drop, kept, fetcher);
  }
  turned.units += unitsFor<Units>(at.rows);
  ++turned.tiles;
}

/// A query head; `isFirst` of those of its key head, whose sums begin.
template <typename Units, bool byDocument>
inline void backwardHead(const GradArrays &a, const Plan &p,
                         const Dropper &drop, Fetcher &fetcher,
                         const float *lse, bool isFirst) {
  Turned turned;
  if constexpr (byDocument)
    zeroFloats(a.dq, p.queries.sums);
  for (int64_t j0 = 0; j0 < p.keys.count; j0 += kTile) {
    turned.isBegun = !isFirst;
    for (const QueryRange &range : p.ranges)
      for (int64_t i0 = range.from; i0 < range.end; i0 += kGradientRows)
        backwardTile<Units, byDocument>(a, turned,
                                        tileAt(p, range, i0, j0, kGradientRows),
                                        p, drop, fetcher, lse);
    finishQueries<Units, byDocument>(a, turned, p);
    addTurned<Units>(a, turned, p);
    if (turned.isBegun)
      continue;
    zeroFloats(a.dk + j0 * p.headPad, kTile * p.headPad);
    zeroFloats(a.dv + j0 * p.headPad, kTile * p.headPad);
  }
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_TURNED_H
