//===- tile_gemm.h - small GEMMs on packed tiles ----------------*- C++ -*-===//
//
// Internal, per instruction set (see simd.h). C[rows, n] += A[rows, k]·B[k, n]
// with a register tile of kTileRows x 2 vectors: each step of k loads two
// vectors of B and broadcasts kTileRows elements of A. Sums over k ascend, one
// FMA each, so the order is fixed by the shape alone.
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
/// What of a block of rows is needed: k in [begin, end), columns [0, columns).
struct Extent {
  int64_t begin, end, columns;
};

template <bool kAdd>
MTC_INLINE void registerTile(const float *a, int64_t rowStride, int64_t kStride,
                             const float *b, int64_t bStride, float *c,
                             int64_t cStride, int64_t k) {
  F acc[kTileRows][2];
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; ++r) {
    acc[r][0] = kAdd ? load(c + r * cStride) : broadcast(0);
    acc[r][1] = kAdd ? load(c + r * cStride + kW) : broadcast(0);
  }
  for (; k > 0; --k, a += kStride, b += bStride) {
    F b0 = load(b), b1 = load(b + kW);
#pragma GCC unroll 8
    for (int r = 0; r < kTileRows; ++r) {
      F x = broadcast(a[r * rowStride]);
      acc[r][0] = fma(x, b0, acc[r][0]);
      acc[r][1] = fma(x, b1, acc[r][1]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kTileRows; ++r) {
    store(c + r * cStride, acc[r][0]);
    store(c + r * cStride + kW, acc[r][1]);
  }
}

/// `rows` is rounded up to kTileRows: the caller's tiles have those rows.
/// extentOf(row) gives the Extent of the block of kTileRows rows from `row`.
template <bool kAdd, typename ExtentOf>
MTC_INLINE void tileGemm(int64_t rows, Broadcasts a, Rows b, Target c,
                         ExtentOf extentOf) {
  for (int64_t row = 0; row < rows; row += kTileRows) {
    Extent e = extentOf(row);
    for (int64_t col = 0; col < e.columns; col += kTileCols)
      registerTile<kAdd>(a.p + row * a.rowStride + e.begin * a.kStride,
                         a.rowStride, a.kStride, b.p + e.begin * b.stride + col,
                         b.stride, c.p + row * c.stride + col, c.stride,
                         e.end - e.begin);
  }
}

} // namespace
#endif // MTC_RUNTIME_KERNELS_CPU_TILE_GEMM_H
