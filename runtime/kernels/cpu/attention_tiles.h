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

/// A block of sums in memory, from its first one on.
MTC_INLINE TileSums sumsAt(const Target &c) {
  return {c.p, c.p + kTileSide * c.stride, 4 * c.stride};
}
template <Begin begin> MTC_INLINE void beginTiles(const TileSums &sums) {
  if constexpr (begin == Begin::zero)
    zeroSums();
  else
    loadSums(sums);
}
MTC_INLINE void storeSums(const TileSums &sums) {
  storeUpper(sums);
  storeLower(sums);
}

/// Adds units [from, to) of the rows of a, [row][unit], to a block.
MTC_INLINE void addTileSteps(const Rows &a, const Rows &b, int64_t from,
                             int64_t to) {
  const char *upper = (const char *)(a.p + from);
  TileRows left{upper, upper + 4 * kTileSide * a.stride, 4 * a.stride, 64};
  TileColumns right{b.p + from * b.stride, 4 * b.stride};
  for (int64_t k = from; k < to; k += kTileSide)
    addTileStep(left, right);
}

/// The first rows of a block of sums, which others follow in memory.
MTC_INLINE void storeSums(const Target &c, int64_t rows) {
  alignas(64) float all[kTileBlock * kTileBlock];
  storeSums(sumsAt({all, kTileBlock}));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t j = 0; j < kTileBlock; j += kW)
      store(c.p + row * c.stride + j, load(all + row * kTileBlock + j));
}

/// `rows` rows, at most 32, of c = a·b, or added to it. 32 of a and c are read.
template <Begin begin>
MTC_INLINE void tileSomeRows(int64_t rows, const Rows &a, const Rows &b,
                             const Target &c, const Extent &e) {
  for (int64_t j = 0; j < e.columns; j += kTileBlock) {
    const Target to{c.p + j, c.stride};
    beginTiles<begin>(sumsAt(to));
    addTileSteps(a, {b.p + j, b.stride}, e.begin, e.end);
    storeSums(to, rows);
  }
}

/// 32 rows of c = a·b, or added to it. Rows that are not there are read and
/// written, too.
template <Begin begin>
MTC_INLINE void tileRows(const Rows &a, const Rows &b, const Target &c,
                         const Extent &e) {
  for (int64_t j = 0; j < e.columns; j += kTileBlock) {
    const TileSums to = sumsAt({c.p + j, c.stride});
    beginTiles<begin>(to);
    addTileSteps(a, {b.p + j, b.stride}, e.begin, e.end);
    storeSums(to);
  }
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_ATTENTION_TILES_H
