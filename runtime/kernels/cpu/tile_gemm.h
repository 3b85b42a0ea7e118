//===- tile_gemm.h - small GEMMs on packed tiles ----------------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). C[rows, n] = A[rows, k]·B[k, n],
// or added to what C has, with a register tile of kTileRows x 2 vectors: each
// step of k loads two vectors of B and broadcasts kTileRows elements of A. Sums
// over k ascend, one step each, so the order is fixed by the shape alone: a row
// or column at an edge, which is computed by a smaller tile, has the same.
//
// An element of A and of B is a unit of 4 bytes, and a step what `Terms` makes
// of two units and a sum (attention_units.h).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_TILE_GEMM_H
#define MTC_RUNTIME_KERNELS_CPU_TILE_GEMM_H

#include "runtime/kernels/cpu/simd.h"

namespace {

constexpr int kTileCols = 2 * kW;

MTC_INLINE int64_t roundUp(int64_t x, int64_t to) {
  return (x + to - 1) / to * to;
}

/// A is read at p[row·rowStride + k·kStride]: both A and its transpose.
struct Broadcasts {
  const float *p;
  int64_t rowStride, kStride;
};
struct Rows {
  const float *p;
  int64_t stride;
};
struct Target {
  float *p;
  int64_t stride;
};
/// What of a block of rows is needed: k in [begin, end), columns [0, columns),
/// whole vectors.
struct Extent {
  int64_t begin, end, columns;
};

/// What the sums of a row begin with: nothing, what C has, or that times the
/// row's factor.
enum class Begin { zero, present, scaled };

template <Begin begin>
MTC_INLINE F firstSum(const float *c, const float *factors, int row) {
  if constexpr (begin == Begin::zero)
    return broadcast(0);
  else if constexpr (begin == Begin::present)
    return load(c);
  else
    return load(c) * broadcast(factors[row]);
}

/// What is done beside a product: something before each register tile, and
/// something with each step of a group of kSteps, while isDrawing() says so.
struct NothingBeside {
  MTC_INLINE void beforeTile() {}
  static constexpr int kSteps = 1;
  MTC_INLINE bool isDrawing() const { return false; }
  struct Group {
    MTC_INLINE explicit Group(NothingBeside &) {}
    MTC_INLINE void step(int) {}
  };
};

/// One step of k.
template <typename Terms, int kRows, int kVectors>
MTC_INLINE void addStep(F (&acc)[kRows][kVectors], Broadcasts &a, Rows &b) {
  F columns[kVectors];
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v)
    columns[v] = load(b.p + v * kW);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    F x = broadcast(a.p[r * a.rowStride]);
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      acc[r][v] = Terms::add(acc[r][v], x, columns[v]);
  }
  a.p += a.kStride;
  b.p += b.stride;
}

template <typename Terms, Begin begin, int kRows, int kVectors, typename Beside>
MTC_INLINE void registerTile(Broadcasts a, Rows b, Target c,
                             const float *factors, int64_t k, Beside &beside) {
  beside.beforeTile();
  F acc[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      acc[r][v] = firstSum<begin>(c.p + r * c.stride + v * kW, factors, r);
  for (; k >= Beside::kSteps && beside.isDrawing(); k -= Beside::kSteps) {
    typename Beside::Group group(beside);
#pragma GCC unroll 8
    for (int step = 0; step < Beside::kSteps; ++step) {
      group.step(step);
      addStep<Terms>(acc, a, b);
    }
  }
  for (; k > 0; --k)
    addStep<Terms>(acc, a, b);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      store(c.p + r * c.stride + v * kW, acc[r][v]);
}

template <typename Terms, Begin begin, int kRows, typename Beside>
MTC_INLINE void registerRows(Broadcasts a, Rows b, Target c,
                             const float *factors, const Extent &e,
                             Beside &beside) {
  a.p += e.begin * a.kStride;
  b.p += e.begin * b.stride;
  int64_t k = e.end - e.begin, col = 0;
  for (; col + kTileCols <= e.columns; col += kTileCols)
    registerTile<Terms, begin, kRows, 2>(
        a, {b.p + col, b.stride}, {c.p + col, c.stride}, factors, k, beside);
  if (col < e.columns)
    registerTile<Terms, begin, kRows, 1>(
        a, {b.p + col, b.stride}, {c.p + col, c.stride}, factors, k, beside);
}

/// extentOf(row) gives the Extent of the block of kTileRows rows from `row`.
/// `factors` is null but for Begin::scaled.
template <typename Terms, Begin begin, typename ExtentOf, typename Beside>
MTC_INLINE void tileGemm(int64_t rows, Broadcasts a, Rows b, Target c,
                         const float *factors, ExtentOf extentOf,
                         Beside &&beside) {
  auto factorsFrom = [&](int64_t from) {
    return begin == Begin::scaled ? factors + from : nullptr;
  };
  int64_t row = 0;
  for (; row + kTileRows <= rows; row += kTileRows)
    registerRows<Terms, begin, kTileRows>(
        {a.p + row * a.rowStride, a.rowStride, a.kStride}, b,
        {c.p + row * c.stride, c.stride}, factorsFrom(row), extentOf(row),
        beside);
  if (row == rows)
    return;
  Extent last = extentOf(row);
  for (; row < rows; ++row)
    registerRows<Terms, begin, 1>(
        {a.p + row * a.rowStride, a.rowStride, a.kStride}, b,
        {c.p + row * c.stride, c.stride}, factorsFrom(row), last, beside);
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_TILE_GEMM_H
