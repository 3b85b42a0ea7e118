//===- halves.cuh - products of 16-bit elements -----------------*- C++ -*-===//
//
// A block has four warps, each of which owns 64 x 64 elements of c. A warp's
// products are those of 16 k at a time, in ascending order.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_GEMM_HALVES_CUH
#define MTC_RUNTIME_CUDA_GEMM_HALVES_CUH

#include "runtime/cuda/attention/tiles.cuh"
#include "runtime/cuda/gemm/store.cuh"

namespace mtc::cuda {

/// One operand's side: 128 rows of op(a), or columns of op(b), of a block, of
/// which a warp has 64. AlongK: k runs along the rows of the tile.
template <bool AlongK> struct HalfSide {
  static constexpr int kCount = kHalfTile.m, kDepth = kHalfTile.k;
  static_assert(kHalfTile.m == kHalfTile.n);
  static constexpr int kRows = AlongK ? kCount : kDepth;
  static constexpr int kColumns = AlongK ? kDepth : kCount;
  static constexpr int kBytes = 2 * kRows * kColumns;

  MTC_DEVICE static void stage(uint32_t to, const Matrix<uint16_t> &m,
                               bool aligned, int first, int k) {
    stageTile<kRows, kColumns, kHalfTile.threads>(
        m, aligned, AlongK ? first : k, AlongK ? k : first,
        [&](int row, int chunk) {
          return to + chunkOffset<kColumns>(uint32_t(row), uint32_t(chunk));
        });
  }

  /// Where the 64 rows or columns of a warp begin, which is 0 or 1.
  MTC_DEVICE static uint32_t ofWarp(int warp) {
    return uint32_t(warp * (AlongK ? 64 * 2 * kColumns : 64 * 2));
  }

  /// 16 rows or columns of 16 k: x[2·kk + s] has the kk-th eight k of the s-th
  /// eight rows or columns.
  MTC_DEVICE static void load(uint32_t (&x)[4], uint32_t from,
                              const LaneRow<kColumns> &lane, int block, int k) {
    uint32_t r[4];
    if constexpr (AlongK)
      loadMatrices(x, from + lane.at(block, k));
    else {
      loadTransposed(r, from + lane.at(k, block));
      x[0] = r[0];
      x[1] = r[2];
      x[2] = r[1];
      x[3] = r[3];
    }
  }
};

/// Adds the products of a step to the sums of a warp.
template <Element E, class A, class B>
MTC_DEVICE void addHalves(float (&sum)[4][8][4], uint32_t a, uint32_t b,
                          const LaneRow<A::kColumns> &laneA,
                          const LaneRow<B::kColumns> &laneB) {
#pragma unroll
  for (int k = 0; k < kHalfTile.k / 16; ++k) {
    uint32_t left[4][4];
#pragma unroll
    for (int m = 0; m < 4; ++m)
      A::load(left[m], a, laneA, m, k);
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      uint32_t right[4];
      B::load(right, b, laneB, n, k);
#pragma unroll
      for (int m = 0; m < 4; ++m) {
        mma<E>(sum[m][2 * n], left[m], right[0], right[2]);
        mma<E>(sum[m][2 * n + 1], left[m], right[1], right[3]);
      }
    }
  }
}

template <Element E, bool TA, bool TB>
MTC_DEVICE void multiplyHalves(const GemmParams &p) {
  using A = HalfSide<!TA>;
  using B = HalfSide<TB>;
  constexpr int kBytes = A::kBytes + B::kBytes;
  __shared__ alignas(128) uint8_t shared[2 * kBytes];
  static_assert(kHalfTile.threads / 32 * kSumBytes <= 2 * kBytes);
  uint32_t base = sharedAddress(shared);
  Matrix<uint16_t> a{static_cast<const uint16_t *>(p.a), p.lda, TA ? p.k : p.m,
                     TA ? p.m : p.k};
  Matrix<uint16_t> b{static_cast<const uint16_t *>(p.b), p.ldb, TB ? p.n : p.k,
                     TB ? p.k : p.n};
  bool alignedA = a.isAligned(), alignedB = b.isAligned();
  TilePlace place(kHalfTile.m, kHalfTile.n, p);
  int warp = int(threadIdx.x) / 32;
  LaneRow<A::kColumns> laneA;
  LaneRow<B::kColumns> laneB;
  float sum[4][8][4] = {};
  pipelined((p.k + kHalfTile.k - 1) / kHalfTile.k,
            [&](int buffer, int step) {
              uint32_t to = base + uint32_t(buffer * kBytes);
              int k = step * kHalfTile.k;
              A::stage(to, a, alignedA, place.row, k);
              B::stage(to + A::kBytes, b, alignedB, place.column, k);
            },
            [&](int buffer) {
              uint32_t at = base + uint32_t(buffer * kBytes);
              addHalves<E, A, B>(sum, at + A::ofWarp(warp / 2),
                                 at + A::kBytes + B::ofWarp(warp % 2), laneA,
                                 laneB);
            });
  __syncthreads(); // the operands' memory is that of sums now
  storeSums<E>(p, place.row + warp / 2 * 64, place.column + warp % 2 * 64, sum,
               base + uint32_t(warp * kSumBytes));
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_GEMM_HALVES_CUH
