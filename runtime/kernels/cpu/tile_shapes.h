//===- tile_shapes.h - what tiles hold --------------------------*- C++ -*-===//
//
// Internal, for AMX: blocks of sums of two by two tiles, in tiles 0 to 3 row by
// row of them; of 32 columns, and of 32 rows or fewer. Tiles 4 and 5 have their
// rows of the left operand, 6 and 7 their columns of the right one.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_TILE_SHAPES_H
#define MTC_RUNTIME_KERNELS_CPU_TILE_SHAPES_H

#include "runtime/kernels/cpu/simd.h"

namespace {

/// Rows of a tile, and units of a row: two elements of bf16, or a sum.
constexpr int64_t kTileSide = 16;
constexpr int64_t kTileBlock = 2 * kTileSide; ///< rows and columns of a block

MTC_INLINE int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }
MTC_INLINE int64_t greatest(int64_t x, int64_t y) { return x > y ? x : y; }

// The compiler's functions of these names do not tell it that they read memory
// (GCC 12), so that it may write that later, or never.

template <int kNumber>
MTC_INLINE void loadTile(const void *from, int64_t stride) {
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2"
                   :
                   : "r"(from), "r"(stride), "i"(kNumber)
                   : "memory");
}
/// Lines that pass, as they are read again only behind more than the
/// first-level cache has room for, are to leave there what stays. What is not
/// in the second-level cache either comes from afar again each time.
template <int kNumber>
MTC_INLINE void loadPassingTile(const void *from, int64_t stride) {
  __asm__ volatile("tileloaddt1 (%0,%1,1), %%tmm%c2"
                   :
                   : "r"(from), "r"(stride), "i"(kNumber)
                   : "memory");
}
template <int kNumber> MTC_INLINE void storeTile(void *to, int64_t stride) {
  __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)"
                   :
                   : "r"(to), "r"(stride), "i"(kNumber)
                   : "memory");
}

/// What LDTILECFG reads.
struct alignas(64) TileShapes {
  uint8_t palette, start, reserved[14];
  uint16_t rowBytes[16];
  uint8_t rows[16];
};

/// All tiles with rows of 64 bytes; those of fewer than 32 rows have as many.
/// Where there is no lower tile it has one row, which nobody needs. Clears all.
MTC_INLINE void shapeTiles(int64_t blockRows) {
  auto upper = uint8_t(least(blockRows, kTileSide)),
       lower = uint8_t(blockRows > kTileSide
                           ? least(blockRows, kTileBlock) - kTileSide
                           : 1);
  const TileShapes shapes = {
      1,
      0,
      {},
      {64, 64, 64, 64, 64, 64, 64, 64},
      {upper, upper, lower, lower, upper, lower, kTileSide, kTileSide}};
  __asm__ volatile("ldtilecfg %0" : : "m"(shapes));
}

/// Sums of a block in memory, in fp32: of the left tiles, to which the right
/// ones are `beside`.
struct TileSums {
  float *upper, *lower;
  int64_t stride;             ///< bytes from row to row
  int64_t beside = kTileSide; ///< floats
};

MTC_INLINE void zeroSums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}
MTC_INLINE void loadSums(const TileSums &from) {
  loadTile<0>(from.upper, from.stride);
  loadTile<1>(from.upper + from.beside, from.stride);
  loadTile<2>(from.lower, from.stride);
  loadTile<3>(from.lower + from.beside, from.stride);
}
MTC_INLINE void storeUpper(const TileSums &to) {
  storeTile<0>(to.upper, to.stride);
  storeTile<1>(to.upper + to.beside, to.stride);
}
MTC_INLINE void storeLower(const TileSums &to) {
  storeTile<2>(to.lower, to.stride);
  storeTile<3>(to.lower + to.beside, to.stride);
}

/// A block's rows of the left operand; where there is no lower tile its row is
/// one that is there.
struct TileRows {
  const char *upper, *lower;
  int64_t stride, step; ///< bytes from row to row, and from step to step
};
/// Its columns of the right one, unit by unit.
struct TileColumns {
  const float *at;
  int64_t stride; ///< bytes from unit to unit
};

/// Adds a step, of sixteen units, to the sums. Columns may be passing ones.
template <bool kPass = false>
MTC_INLINE void addTileStep(TileRows &rows, TileColumns &columns) {
  if constexpr (kPass) {
    loadPassingTile<6>(columns.at, columns.stride);
    loadPassingTile<7>(columns.at + kTileSide, columns.stride);
  } else {
    loadTile<6>(columns.at, columns.stride);
    loadTile<7>(columns.at + kTileSide, columns.stride);
  }
  loadTile<4>(rows.upper, rows.stride);
  loadTile<5>(rows.lower, rows.stride);
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(3, 5, 7);
  rows.upper += rows.step;
  rows.lower += rows.step;
  columns.at += kTileSide * columns.stride / int64_t(sizeof(float));
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_TILE_SHAPES_H
