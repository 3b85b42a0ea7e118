//===- gemm_own_amx.h - products by tiles -----------------------*- C++ -*-===//
//
// Internal, for AMX. In a step of 32 elements of k a sum takes those of even
// and those of odd place, each in ascending order from zero, one FMA each, and
// then their sum, with subnormals taken for zero (TDPBF16PS); steps ascend,
// from zero. Then it is added to what was there, as by vectors.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_AMX_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_AMX_H

#include "runtime/kernels/cpu/gemm_own_lines.h"
#include "runtime/kernels/cpu/gemm_own_tile.h"

namespace {

/// Units of k that are made for some panels of op(b) before the next ones: rows
/// of op(a) for as long stay in the first-level cache, beside a panel.
constexpr int64_t kSomeUnits = 12 * kTileSide;
/// Panels whose sums wait meanwhile, in fp32 and so without a trace.
constexpr int64_t kSomePanels = 8;
constexpr int64_t kSumColumns = kSomePanels * kPanelColumns;
static_assert(kPanelColumns == kTileBlock);

/// A block's rows of op(a): line by line of a panel, or as memory has them.
MTC_INLINE TileRows rowsAt(const BlockCall &call, int64_t row) {
  const char *a = static_cast<const char *>(call.a);
  if (call.aStride == 0) {
    a += 4 * row * call.depth;
    return {a, a + 64 * kTileSide, 64, 64 * kTileBlock};
  }
  int64_t below = row + kTileSide < call.rows ? kTileSide : 0;
  return {a + 4 * row * call.aStride, a + 4 * (row + below) * call.aStride,
          4 * call.aStride, 64};
}

/// Adds units [begin, end) of k to the sums in tiles.
MTC_INLINE void addUnits(const BlockCall &call, TileRows rows, const float *b,
                         int64_t begin, int64_t end) {
  const int64_t steps = begin / kTileSide;
  rows.upper += steps * rows.step;
  rows.lower += steps * rows.step;
  TileColumns columns{b + begin * kPanelColumns, 4 * kPanelColumns};
  for (int64_t k = begin; k < end; k += kTileSide) {
    if (call.ahead)
      take(*call.ahead);
    addTileStep(rows, columns);
  }
}

/// Sums of a row of blocks, of `columns` from panel j on.
MTC_INLINE void sumBlocks(const BlockCall &call, int64_t i, int64_t j,
                          int64_t columns, float *sums) {
  const TileRows rows = rowsAt(call, i);
  for (int64_t unit = 0; unit < call.depth; unit += kSomeUnits)
    for (int64_t at = 0; at < columns; at += kPanelColumns) {
      const TileSums to{sums + at, sums + kTileSide * kSumColumns + at,
                        4 * kSumColumns};
      if (unit == 0)
        zeroSums();
      else
        loadSums(to);
      addUnits(call, rows, call.b + (j + at) * call.depth, unit,
               least(unit + kSomeUnits, call.depth));
      storeUpper(to);
      storeLower(to);
    }
}

/// Some rows of a block's sums go where the call says.
template <typename C>
MTC_INLINE void finishRows(const BlockCall &call, const float *sums,
                           int64_t row, int64_t column) {
  Block<kVectors> x;
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      x[r][v] = load(sums + r * kSumColumns + v * kW);
  Corner<C> c = cornerOf<C>(call, row, column);
  Corner<float> floats = floatsOf(call, row, column);
  if (c.rows < kTileRows || c.columns < kPanelColumns)
    return finishBlock<kVectors>(call, c, floats, x);
  c.rows = floats.rows = kTileRows;
  c.columns = floats.columns = kPanelColumns;
  finishBlock<kVectors>(call, c, floats, x); // without a look at edges
}

/// Lines of c that are written behind the sums of some blocks are to be there
/// then.
template <typename C>
MTC_INLINE void fetchToWrite(const BlockCall &call, int64_t i, int64_t j,
                             int64_t rows, int64_t columns) {
  constexpr int64_t kLine = 64 / int64_t(sizeof(C));
  if (call.to != Sums::inC || call.streams)
    return;
  const C *at = static_cast<const C *>(call.c) + i * call.stride + j;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t column = 0; column < columns; column += kLine)
      __builtin_prefetch(at + r * call.stride + column, 1, 3);
}

/// A row of blocks, of at most kSomePanels panels.
template <typename C>
MTC_INLINE void tileBlocks(const BlockCall &call, int64_t i, int64_t j) {
  alignas(64) float sums[kTileBlock * kSumColumns];
  int64_t columns = least(call.columns - j, kSumColumns),
          rows = least(call.rows - i, kTileBlock);
  fetchToWrite<C>(call, i, j, rows, columns);
  sumBlocks(call, i, j, columns, sums);
  for (int64_t at = 0; at < columns; at += kPanelColumns)
    for (int64_t row = 0; row < rows; row += kTileRows)
      finishRows<C>(call, sums + row * kSumColumns + at, i + row, j + at);
}

/// Rows of which a tile would have a part are in tiles of as many rows, unless
/// op(a) is packed, whose panels are whole.
MTC_INLINE void shapeFor(const BlockCall &call, int64_t rows) {
  shapeTiles(call.aStride == 0 ? kTileBlock : rows);
}

template <typename C> void tilesInto(const BlockCall &call) {
  shapeFor(call, call.rows);
  for (int64_t i = 0; i < call.rows; i += kTileBlock) {
    if (i > 0 && call.rows - i < kTileBlock)
      shapeFor(call, call.rows - i);
    for (int64_t j = 0; j < call.columns; j += kSumColumns)
      tileBlocks<C>(call, i, j);
  }
  _tile_release();
}

void multiplyTiles(const BlockCall &call) {
  if (call.type == MTC_F32)
    tilesInto<float>(call);
  else
    tilesInto<Bf16>(call);
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_AMX_H
