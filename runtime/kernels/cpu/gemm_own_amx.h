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
/// Units of op(b) that stay in the second-level cache beside what passes; of
/// more, so many are made at a time, with all rows of op(a) passing.
constexpr int64_t kNearUnits = 250'000, kFarUnits = 100'000;

/// Of so many times that columns of op(b) are read, they pass the first-level
/// cache (loadPassingTile) in all but the first: that one has what was driven
/// out of the second-level cache come back.
constexpr int64_t kReads = 4;

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

/// Sums of a panel's block: its four tiles, one after the other.
constexpr int64_t kTileFloats = kTileSide * kTileSide;
constexpr int64_t kBlockFloats = 4 * kTileFloats;

MTC_INLINE TileSums tilesAt(float *sums) {
  return {sums, sums + 2 * kTileFloats, 4 * kTileSide, kTileFloats};
}

/// Sums of tiles, from zero, are never subnormal, which this instruction would
/// take for zero; else it rounds as roundToBf16 does.
MTC_INLINE void roundRows(const Corner<Bf16> &c, const float *sums) {
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; ++r, sums += kTileSide)
    _mm512_storeu_si512(
        c.p + r * c.stride,
        (__m512i)_mm512_cvtne2ps_pbh(load(sums + kTileFloats), load(sums)));
}

/// Some rows of a block's sums go where the call says.
template <typename C>
MTC_INLINE void finishRows(const BlockCall &call, const float *sums,
                           int64_t row, int64_t column) {
  Corner<C> c = cornerOf<C>(call, row, column);
  const bool isWhole = c.rows >= kTileRows && c.columns >= kPanelColumns;
  if constexpr (std::is_same_v<C, Bf16>)
    if (isWhole && call.from == Sums::zero && call.to == Sums::inC)
      return roundRows(c, sums);
  Block<kVectors> x;
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      x[r][v] = load(sums + r * kTileSide + v * kTileFloats);
  Corner<float> floats = floatsOf(call, row, column);
  if (!isWhole)
    return finishBlock<kVectors>(call, c, floats, x);
  c.rows = floats.rows = kTileRows;
  c.columns = floats.columns = kPanelColumns;
  finishBlock<kVectors>(call, c, floats, x); // without a look at edges
}

/// A block whose sums are done. It is finished some rows at a time, beside
/// steps of another one: its stores would keep tiles waiting, all at once.
struct DoneBlock {
  const float *sums;
  int64_t row, column; ///< its first ones
  int64_t next, rows;  ///< of its rows, the next ones to be finished, and all
};

template <typename C>
MTC_INLINE void finishSome(const BlockCall &call, DoneBlock &done) {
  if (done.next >= done.rows)
    return;
  const int64_t tile = done.next / kTileSide, row = done.next % kTileSide;
  finishRows<C>(call, done.sums + 2 * tile * kTileFloats + row * kTileSide,
                done.row + done.next, done.column);
  done.next += kTileRows;
}
template <typename C>
MTC_INLINE void finishAll(const BlockCall &call, DoneBlock &done) {
  while (done.next < done.rows)
    finishSome<C>(call, done);
}

/// What is done beside the steps of a row of blocks.
struct BesideSteps {
  Ahead rows;     ///< of op(a), which the next row of blocks reads
  Ahead written;  ///< lines of c that are written behind the steps
  DoneBlock done; ///< is finished
};

/// Lines [0, ahead.left) are for so many steps.
MTC_INLINE void spreadOver(Ahead &ahead, int64_t steps) {
  ahead.each = (ahead.left + steps - 1) / steps;
}
MTC_INLINE int64_t stepsOf(const BlockCall &call, int64_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns *
         (call.depth / kTileSide);
}

/// Of the row of blocks behind row i.
MTC_INLINE Ahead rowsBehind(const BlockCall &call, int64_t i, int64_t columns) {
  Ahead ahead{};
  i += kTileBlock;
  if (i >= call.rows)
    return ahead;
  const bool isPacked = call.aStride == 0;
  const int64_t units = isPacked ? call.depth : call.aStride;
  ahead.at = static_cast<const char *>(call.a) + 4 * i * units;
  ahead.stride = 4 * units;
  ahead.lines = call.depth / kTileSide;
  ahead.left =
      ahead.lines * (isPacked ? kTileBlock : least(call.rows - i, kTileBlock));
  spreadOver(ahead, stepsOf(call, columns));
  return ahead;
}

/// All lines of c at once would keep operands waiting.
template <typename C>
MTC_INLINE Ahead linesToWrite(const BlockCall &call, int64_t i, int64_t j,
                              int64_t columns) {
  constexpr auto kSize = int64_t(sizeof(C));
  Ahead ahead{};
  if (call.to != Sums::inC || call.streams)
    return ahead;
  ahead.at = static_cast<const char *>(call.c) + kSize * (i * call.stride + j);
  ahead.stride = kSize * call.stride;
  ahead.lines = (kSize * columns + 63) / 64;
  ahead.left = ahead.lines * least(call.rows - i, kTileBlock);
  spreadOver(ahead, stepsOf(call, columns));
  return ahead;
}

/// Adds units [begin, end) of k to the sums in tiles.
template <typename C, bool kPass>
MTC_INLINE void addUnits(const BlockCall &call, TileRows rows, const float *b,
                         int64_t begin, int64_t end, BesideSteps &beside) {
  constexpr int64_t kStepsPerFinish = 2;
  const int64_t steps = begin / kTileSide;
  rows.upper += steps * rows.step;
  rows.lower += steps * rows.step;
  TileColumns columns{b + begin * kPanelColumns, 4 * kPanelColumns};
  for (int64_t k = begin; k < end; k += kTileSide) {
    addTileStep<kPass>(rows, columns);
    if (call.ahead)
      take(*call.ahead);
    take(beside.rows);
    take(beside.written, [](const char *at) { __builtin_prefetch(at, 1, 3); });
    if (k / kTileSide % kStepsPerFinish == 0)
      finishSome<C>(call, beside.done);
  }
}

/// A row of blocks, of at most kSomePanels panels.
template <typename C, bool kPass>
MTC_INLINE void tileBlocks(const BlockCall &call, int64_t i, int64_t j,
                           int64_t columns, BesideSteps &beside) {
  alignas(64) float sums[kSomePanels * kBlockFloats];
  const TileRows rows = rowsAt(call, i);
  beside.written = linesToWrite<C>(call, i, j, columns);
  for (int64_t unit = 0; unit < call.depth; unit += kSomeUnits) {
    const int64_t end = least(unit + kSomeUnits, call.depth);
    float *at = sums;
    for (int64_t column = j; column < j + columns;
         column += kPanelColumns, at += kBlockFloats) {
      if (unit == 0)
        zeroSums();
      else
        loadSums(tilesAt(at));
      addUnits<C, kPass>(call, rows, call.b + column * call.depth, unit, end,
                         beside);
      storeUpper(tilesAt(at));
      storeLower(tilesAt(at));
      if (end < call.depth)
        continue;
      finishAll<C>(call, beside.done);
      beside.done = {at, i, column, 0, least(call.rows - i, kTileBlock)};
    }
  }
  finishAll<C>(call, beside.done);
}

/// Rows of which a tile would have a part are in tiles of as many rows, unless
/// op(a) is packed, whose panels are whole.
MTC_INLINE void shapeFor(const BlockCall &call, int64_t rows) {
  shapeTiles(call.aStride == 0 ? kTileBlock : rows);
}

/// Columns [first, end), of all rows.
template <typename C>
MTC_INLINE void tileColumns(const BlockCall &call, int64_t first, int64_t end) {
  shapeFor(call, call.rows);
  for (int64_t i = 0; i < call.rows; i += kTileBlock) {
    if (i > 0 && call.rows - i < kTileBlock)
      shapeFor(call, call.rows - i);
    BesideSteps beside{rowsBehind(call, i, end - first), {}, {}};
    const bool passes = (call.rowsBefore + i) / kTileBlock % kReads != 0;
    for (int64_t j = first; j < end; j += kSumColumns) {
      const int64_t columns = least(end - j, kSumColumns);
      if (passes)
        tileBlocks<C, true>(call, i, j, columns, beside);
      else
        tileBlocks<C, false>(call, i, j, columns, beside);
    }
  }
}

/// As many columns at a time as stay in the second-level cache.
template <typename C> void tilesInto(const BlockCall &call) {
  const int64_t near =
      call.columns * call.depth <= kNearUnits
          ? call.columns
          : greatest(kFarUnits / call.depth / kSumColumns, int64_t(1)) *
                kSumColumns;
  for (int64_t j = 0; j < call.columns; j += near)
    tileColumns<C>(call, j, least(j + near, call.columns));
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
