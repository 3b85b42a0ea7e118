//===- gemm_own_lines.h - panels of a product by tiles ----------*- C++ -*-===//
//
// Internal, for AMX. A tile of op(a) has 16 rows of 16 units along k, a tile of
// op(b) 16 units, each of 16 columns; so panels of op(a) have a line (16 units)
// of each of their rows, then the next lines: where[step · rows + row], and
// panels of op(b) are as for vectors.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_LINES_H
#define MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_LINES_H

#include "runtime/kernels/cpu/gemm_own_pack.h"
#include "runtime/kernels/cpu/tile_shapes.h"

namespace {

constexpr int64_t kStepElements = 2 * kTileSide; ///< along k

/// Sixteen rows and a step of k, some of which may be beyond the product.
struct LineBlock {
  const Bf16 *from; ///< of the first row and element
  int64_t stride, rows, depth;
  bool alongK;
  float *to; ///< sixteen lines
};

MTC_INLINE void packEdgeLines(const LineBlock &block) {
  int64_t rowStride = block.alongK ? block.stride : 1,
          kStride = block.alongK ? 1 : block.stride;
  for (int64_t row = 0; row < kTileSide; ++row)
    for (int64_t unit = 0; unit < kTileSide; ++unit) {
      int64_t k = 2 * unit;
      block.to[row * kTileSide + unit] =
          row < block.rows && k < block.depth
              ? PairUnits::one(block.from + row * rowStride + k * kStride,
                               kStride, block.depth - k)
              : 0.0f;
    }
}

MTC_INLINE void packLinesAlong(const LineBlock &block) {
#pragma GCC unroll 16
  for (int64_t row = 0; row < kTileSide; ++row)
    Sixteen::store(block.to + row * kTileSide,
                   Sixteen::pairs(block.from + row * block.stride));
}

MTC_INLINE void packLinesAcross(const LineBlock &block) {
  Sixteen::Vector x[kTileSide];
#pragma GCC unroll 16
  for (int64_t unit = 0; unit < kTileSide; ++unit) {
    const Bf16 *p = block.from + 2 * unit * block.stride;
    x[unit] = Sixteen::pairs(p, p + block.stride);
    _mm_prefetch((const char *)(p + kTileBlock), _MM_HINT_T0);
    _mm_prefetch((const char *)(p + block.stride + kTileBlock), _MM_HINT_T0);
  }
  Sixteen::transpose(x);
#pragma GCC unroll 16
  for (int64_t row = 0; row < kTileSide; ++row)
    Sixteen::store(block.to + row * kTileSide, x[row]);
}

MTC_INLINE void packLineBlock(const LineBlock &block) {
  if (block.rows < kTileSide || block.depth < kStepElements)
    packEdgeLines(block);
  else if (block.alongK)
    packLinesAlong(block);
  else
    packLinesAcross(block);
}

/// Step by step, so that memory which lies across k is read in the order it
/// has.
void packLines(const PackCall &call) {
  const auto *from = static_cast<const Bf16 *>(call.from);
  int64_t rowStride = call.alongK ? call.stride : 1,
          kStride = call.alongK ? 1 : call.stride;
  int64_t padded = (call.rows + kTileBlock - 1) / kTileBlock * kTileBlock;
  for (int64_t unit = 0; unit < call.units; unit += kTileSide)
    for (int64_t row = 0; row < padded; row += kTileSide)
      packLineBlock({from + row * rowStride + 2 * unit * kStride, call.stride,
                     call.rows - row, call.depth - 2 * unit, call.alongK,
                     call.to + row / kTileBlock * kTileBlock * call.units +
                         unit * kTileBlock + row % kTileBlock * kTileSide});
}

/// Panels of op(b), and zeros to the end of the last step.
void packTileColumns(const PackCall &call) {
  packPanels<PairUnits>(call);
  int64_t made = (call.depth + 1) / 2,
          panels = (call.rows + call.width - 1) / call.width;
  for (int64_t panel = 0; panel < panels; ++panel) {
    float *end = call.to + (panel * call.units + made) * call.width;
    for (int64_t i = 0; i < (call.units - made) * call.width; ++i)
      end[i] = 0;
  }
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_GEMM_OWN_LINES_H
