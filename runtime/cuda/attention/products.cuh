//===- products.cuh - the two products of attention -------------*- C++ -*-===//
//
// Of a warp: 16·M rows on the left. Sums stay in registers, as mma lays them
// out: lane 4g + t has columns 2t and 2t + 1 of rows g and g + 8 of 16 x 8.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_PRODUCTS_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_PRODUCTS_CUH

#include "runtime/cuda/attention/tiles.cuh"

namespace mtc::cuda {

template <int M, int N> MTC_DEVICE void clear(float (&c)[M][N][4]) {
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        c[m][n][e] = 0;
}

/// c = a·bᵀ over the D columns of two tiles: 16·M rows of one, 8·N of the
/// other.
template <Element E, int D, int M, int N>
MTC_DEVICE void multiplyRows(float (&c)[M][N][4], uint32_t a, uint32_t b,
                             const LaneRow<D> &lane) {
  clear(c);
#pragma unroll
  for (int k = 0; k < D / 16; ++k) {
    uint32_t left[M][4];
#pragma unroll
    for (int m = 0; m < M; ++m)
      loadMatrices(left[m], a + lane.at(m, k));
#pragma unroll
    for (int n = 0; n < N / 2; ++n) {
      uint32_t right[4];
      loadMatrices(right, b + lane.at(n, k));
#pragma unroll
      for (int m = 0; m < M; ++m) {
        mma<E>(c[m][2 * n], left[m], right[0], right[2]);
        mma<E>(c[m][2 * n + 1], left[m], right[1], right[3]);
      }
    }
  }
}

/// 16·M x 8·N values, rounded to elements: [0] of rows g, [1] of rows g + 8.
/// Two of these in a line are the left operand of one mma.
template <int M, int N> struct Packed {
  uint32_t x[M][N][2];

  template <Element E> MTC_DEVICE void set(const float (&from)[M][N][4]) {
#pragma unroll
    for (int m = 0; m < M; ++m)
#pragma unroll
      for (int n = 0; n < N; ++n)
#pragma unroll
        for (int h = 0; h < 2; ++h)
          x[m][n][h] = pack<E>(from[m][n][2 * h], from[m][n][2 * h + 1]);
  }
};

/// c += a·b with b the 8·N rows of a tile, of which 8·C of its Width columns
/// from 16·column on.
template <Element E, int Width, int M, int C, int N>
MTC_DEVICE void addProduct(float (&c)[M][C][4], const Packed<M, N> &a,
                           uint32_t b, int column, const LaneRow<Width> &lane) {
#pragma unroll
  for (int k = 0; k < N / 2; ++k)
#pragma unroll
    for (int n = 0; n < C / 2; ++n) {
      uint32_t right[4];
      loadTransposed(right, b + lane.at(k, n) + uint32_t(column * 32));
#pragma unroll
      for (int m = 0; m < M; ++m) {
        const uint32_t left[4] = {a.x[m][2 * k][0], a.x[m][2 * k][1],
                                  a.x[m][2 * k + 1][0], a.x[m][2 * k + 1][1]};
        mma<E>(c[m][2 * n], left, right[0], right[1]);
        mma<E>(c[m][2 * n + 1], left, right[2], right[3]);
      }
    }
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_PRODUCTS_CUH
