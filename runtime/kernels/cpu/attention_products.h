//===- attention_products.h - the products of flash attention ---*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). Of arrays as attention_pack.h has
// them, and of tiles of scores, which are [row][kTile] in fp32, or of units
// along their rows, [row][kTile / elements], or across their rows, where units
// of rows are elements · kTile floats apart: those of floats lie as the scores.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_PRODUCTS_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_PRODUCTS_H

#include "runtime/kernels/cpu/attention_fetch.h"
#include "runtime/kernels/cpu/attention_shapes.h"
#include "runtime/kernels/cpu/attention_units.h"
#include "runtime/kernels/cpu/tile_gemm.h"
#ifdef __AMX_TILE__
#include "runtime/kernels/cpu/attention_tiles.h"
#endif

namespace {

/// Units of so many elements, in whole steps.
template <typename Units> MTC_INLINE int64_t unitsFor(int64_t elements) {
  return steppedUnits(elements, Units::kElements);
}

/// scores[rows, kTile] = a (rows, from i0)·transposed tile.
template <typename Units, typename Beside>
MTC_INLINE void scoreTile(float *scores, const float *a,
                          const float *transposed, const TileAt &at,
                          const Plan &p, Beside &&beside) {
  tileGemm<Units, Begin::zero>(
      at.rows, {a + at.i0 * p.rowUnits, p.rowUnits, 1},
      {transposed + at.j0 * p.dimUnits, kTile}, {scores, kTile}, nullptr,
      [&](int64_t row) {
        return Extent{0, p.dimUnits, roundUp(at.keysOfBlock(row), kW)};
      },
      beside);
}

/// c[rows, headPad] begins as it should, and has the product of a tile of units
/// along its rows and b (across tokens, all keys) added.
template <typename Units, Begin begin>
MTC_INLINE void addByKeys(float *c, const float *tile, const float *b,
                          const float *factors, const TileAt &at, const Plan &p,
                          Fetcher &fetcher) {
  tileGemm<Units, begin>(
      at.rows, {tile, kTile / Units::kElements, 1},
      {b + at.j0 / Units::kElements * p.headPad, p.headPad}, {c, p.headPad},
      factors,
      [&](int64_t row) {
        return Extent{0, unitsFor<Units>(at.keysOfBlock(row)), p.headPad};
      },
      FetchBeside(fetcher));
}

/// c[keys, headPad] += transpose of a tile of units across its rows·b (across
/// tokens, all queries).
template <typename Units>
MTC_INLINE void addByRows(float *c, const float *tile, const float *b,
                          const TileAt &at, const Plan &p, Fetcher &fetcher) {
  const int64_t end = unitsFor<Units>(at.rows);
  auto extentOf = [&](int64_t key) {
    // Where no row needs the keys, the last unit does not have them either.
    int64_t first = at.firstRow(key);
    int64_t begin = first / (Units::kElements * kStepUnits) * kStepUnits;
    return Extent{first < at.rows ? begin : end, end, p.headPad};
  };
  const Rows right{b + at.unit * p.headPad, p.headPad};
  const Target to{c, p.headPad};
  tileGemm<Units, Begin::present>(at.keys, {tile, 1, Units::kElements * kTile},
                                  right, to, nullptr, extentOf,
                                  FetchBeside(fetcher));
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_PRODUCTS_H
