//===- attention_tiles.h - products of attention by tiles -------*- C++ -*-===//
//
// Internal, for AMX. The products of attention_products.h of pairs of bf16, in
// blocks of 32 rows. Units that a step has beyond those that are needed are
// zero, in both operands. (What is not finite of a key spreads over the rows of
// a block that do not see it, 32 here and 8 there: zero times it.)
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_ATTENTION_TILES_H
#define MTC_RUNTIME_KERNELS_CPU_ATTENTION_TILES_H

#include "runtime/kernels/cpu/attention_shapes.h"
#include "runtime/kernels/cpu/tile_shapes.h"
#include "runtime/kernels/cpu/transpose.h"

namespace {

static_assert(kExtentRows == kTileBlock && kStepUnits == kTileSide);

/// What the sums of rows begin with, in memory: they take their factors there.
template <Begin begin>
MTC_INLINE void beginSums(const Target &c, int64_t rows, int64_t columns,
                          const float *factors) {
  if constexpr (begin == Begin::scaled)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < columns; j += kW) {
        float *at = c.p + r * c.stride + j;
        store(at, load(at) * broadcast(factors[r]));
      }
}

/// A block of at most 32 rows of a, [row][unit], and all its columns.
template <Begin begin, typename Beside>
MTC_INLINE void tileRows(int64_t rows, const Rows &a, const Rows &b,
                         const Target &c, const float *factors, const Extent &e,
                         Beside &beside) {
  beginSums<begin>(c, rows, e.columns, factors);
  const char *upper = (const char *)(a.p + e.begin);
  const int64_t below = rows > kTileSide ? kTileSide : 0;
  for (int64_t j = 0; j < e.columns; j += kTileBlock) {
    for (int64_t r = 0; r < rows; r += kTileRows)
      beside.beforeTile();
    const TileSums to{c.p + j, c.p + below * c.stride + j, 4 * c.stride};
    if constexpr (begin == Begin::zero)
      zeroSums();
    else
      loadSums(to);
    TileRows left{upper, upper + 4 * below * a.stride, 4 * a.stride, 64};
    TileColumns right{b.p + e.begin * b.stride + j, 4 * b.stride};
    for (int64_t k = e.begin; k < e.end; k += kTileSide)
      addTileStep(left, right);
    storeUpper(to);
    if (below > 0)
      storeLower(to);
  }
}

/// As tileGemm, of whole steps of units, with a's units along its rows and
/// columns in blocks of 32. extentOf(row) is of the 32 rows from `row` on.
template <Begin begin, typename ExtentOf, typename Beside>
MTC_INLINE void tileProduct(int64_t rows, const Rows &a, const Rows &b,
                            const Target &c, const float *factors,
                            ExtentOf extentOf, Beside &&beside) {
  for (int64_t row = 0; row < rows; row += kTileBlock) {
    const int64_t some = least(rows - row, kTileBlock);
    shapeTiles(some);
    tileRows<begin>(some, {a.p + row * a.stride, a.stride}, b,
                    {c.p + row * c.stride, c.stride},
                    begin == Begin::scaled ? factors + row : nullptr,
                    extentOf(row), beside);
  }
}

/// A tile of units across its rows, some units from `begin` to `end`, of all
/// its columns, as units along the columns: turned[column][kTile / 2].
MTC_INLINE void turnUnits(float *turned, const float *tile, int64_t begin,
                          int64_t end) {
  constexpr int64_t kUnitRow = 2 * kTile, kTurnedRow = kTile / 2;
  for (int64_t unit = begin; unit < end; unit += kTileSide)
    for (int64_t column = 0; column < kTile; column += kTileSide) {
      F block[kW];
#pragma GCC unroll 16
      for (int i = 0; i < kW; ++i)
        block[i] = load(tile + (unit + i) * kUnitRow + column);
      transpose(block);
#pragma GCC unroll 16
      for (int i = 0; i < kW; ++i)
        store(turned + (column + i) * kTurnedRow + unit, block[i]);
    }
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_TILES_H
