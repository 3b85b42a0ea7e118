//===- floats.cuh - products of fp32 ----------------------------*- C++ -*-===//
//
// A block has 16 x 16 threads, a thread eight rows and four columns of c. Which
// ones depends on how the operands are stored, so that shared memory is read 16
// bytes at a time and without conflicts of banks: along k if k runs along the
// rows of the tile, else along m or n.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_GEMM_FLOATS_CUH
#define MTC_RUNTIME_CUDA_GEMM_FLOATS_CUH

#include "runtime/cuda/gemm/epilogue.cuh"
#include "runtime/cuda/gemm/staging.cuh"

namespace mtc::cuda {

/// One operand's side: Count rows of op(a), or columns of op(b), of a block, of
/// which a thread has Own. AlongK: k runs along the rows of the tile.
template <int Count, bool AlongK> struct FloatSide {
  static constexpr int kDepth = kFloatTile.k, kOwn = Count / 16;
  static constexpr int kRows = AlongK ? Count : kDepth;
  static constexpr int kColumns = AlongK ? kDepth : Count;
  /// Floats from row to row; four more than there are let eight rows in a line
  /// lie in different banks.
  static constexpr int kStride = kColumns + (AlongK ? 4 : 0);
  static constexpr int kBytes = kRows * kStride * 4;

  /// The i-th row or column of a thread, which is `of` 16.
  MTC_DEVICE static int own(int i, int of) {
    return AlongK ? of + 16 * i : of * 4 + i % 4 + i / 4 * 64;
  }

  MTC_DEVICE static void stage(uint32_t to, const Matrix<uint32_t> &m,
                               bool aligned, int first, int k) {
    stageTile<kRows, kColumns, kFloatTile.threads>(
        m, aligned, AlongK ? first : k, AlongK ? k : first,
        [&](int row, int chunk) {
          return to + uint32_t(4 * kStride * row + 16 * chunk);
        });
  }

  /// What a thread needs of four k.
  MTC_DEVICE static void load(float (&x)[4][kOwn], uint32_t from, int of,
                              int k) {
#pragma unroll
    for (int v = 0; v < kOwn; ++v) {
      // Vector v is all four k of one row, or four rows of one k.
      int i = AlongK ? v : v % (kOwn / 4) * 4, kk = v / (kOwn / 4);
      int at =
          AlongK ? own(i, of) * kStride + k : (k + kk) * kStride + own(i, of);
      uint4 four = load128(from + uint32_t(4 * at));
      const uint32_t bits[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int e = 0; e < 4; ++e)
        (AlongK ? x[e][i] : x[kk][i + e]) = __uint_as_float(bits[e]);
    }
  }
};

/// Adds the products of a step to the sums of a thread.
template <class A, class B>
MTC_DEVICE void addFloats(float (&sum)[A::kOwn][B::kOwn], uint32_t a,
                          uint32_t b, int ty, int tx) {
#pragma unroll 2
  for (int k = 0; k < kFloatTile.k; k += 4) {
    float x[4][A::kOwn], y[4][B::kOwn];
    A::load(x, a, ty, k);
    B::load(y, b, tx, k);
#pragma unroll
    for (int kk = 0; kk < 4; ++kk)
#pragma unroll
      for (int i = 0; i < A::kOwn; ++i)
#pragma unroll
        for (int j = 0; j < B::kOwn; ++j)
          sum[i][j] = __fmaf_rn(x[kk][i], y[kk][j], sum[i][j]);
  }
}

template <class A, class B>
MTC_DEVICE void storeFloats(const GemmParams &p, const TilePlace &place,
                            const float (&sum)[A::kOwn][B::kOwn], int ty,
                            int tx) {
#pragma unroll
  for (int i = 0; i < A::kOwn; ++i) {
    int row = place.row + A::own(i, ty);
    if (row >= p.m)
      continue;
    float *to = static_cast<float *>(p.c) + row * p.ldc;
#pragma unroll
    for (int j = 0; j < B::kOwn; ++j) {
      int column = place.column + B::own(j, tx);
      if (column < p.n)
        to[column] = p.beta ? __fadd_rn(sum[i][j], to[column]) : sum[i][j];
    }
  }
}

/// What a thread stored, once more: sums of fp32 are stored as they are, and a
/// loop that is not unrolled cannot index registers.
template <class A, class B>
MTC_DEVICE void finishFloats(const GemmParams &p, const TilePlace &place,
                             int ty, int tx) {
#pragma unroll 1
  for (int i = 0; i < A::kOwn; ++i) {
    int row = place.row + A::own(i, ty);
    float *to = static_cast<float *>(p.c) + row * p.ldc;
#pragma unroll 1
    for (int j = 0; j < B::kOwn; ++j)
      if (int column = place.column + B::own(j, tx); row < p.m && column < p.n)
        to[column] = finished<Element::f32>(p, row, column, to[column]);
  }
}

template <bool TA, bool TB>
MTC_DEVICE void multiplyFloats(const GemmParams &p) {
  using A = FloatSide<kFloatTile.m, !TA>;
  using B = FloatSide<kFloatTile.n, TB>;
  constexpr int kBytes = A::kBytes + B::kBytes;
  __shared__ alignas(16) uint8_t shared[2 * kBytes];
  uint32_t base = sharedAddress(shared);
  Matrix<uint32_t> a{static_cast<const uint32_t *>(p.a), p.lda, TA ? p.k : p.m,
                     TA ? p.m : p.k};
  Matrix<uint32_t> b{static_cast<const uint32_t *>(p.b), p.ldb, TB ? p.n : p.k,
                     TB ? p.k : p.n};
  bool alignedA = a.isAligned(), alignedB = b.isAligned();
  TilePlace place(kFloatTile.m, kFloatTile.n, p);
  int tx = int(threadIdx.x) % 16, ty = int(threadIdx.x) / 16;
  float sum[A::kOwn][B::kOwn] = {};
  pipelined((p.k + kFloatTile.k - 1) / kFloatTile.k,
            [&](int buffer, int step) {
              uint32_t to = base + uint32_t(buffer * kBytes);
              int k = step * kFloatTile.k;
              A::stage(to, a, alignedA, place.row, k);
              B::stage(to + A::kBytes, b, alignedB, place.column, k);
            },
            [&](int buffer) {
              uint32_t at = base + uint32_t(buffer * kBytes);
              addFloats<A, B>(sum, at, at + A::kBytes, ty, tx);
            });
  storeFloats<A, B>(p, place, sum, ty, tx);
  if (hasEpilogue(p))
    finishFloats<A, B>(p, place, ty, tx);
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_GEMM_FLOATS_CUH
