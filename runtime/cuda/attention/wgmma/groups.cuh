//===- groups.cuh - rows of a warpgroup -------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_WGMMA_GROUPS_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_WGMMA_GROUPS_CUH

#include "runtime/cuda/attention/heads.cuh"
#include "runtime/cuda/attention/products.cuh"
#include "runtime/cuda/attention/wgmma/instructions.cuh"

namespace mtc::cuda {

/// Rows that a warpgroup owns, bytes of a row of 64 elements, and of a tile of
/// 64 rows.
inline constexpr int kGroupRows = 64, kGroupRow = 128,
                     kGroupTile = kGroupRows * kGroupRow;

extern __shared__ __align__(1024) unsigned char groupShared[];

/// Tiles begin at multiples of what their permutation repeats after.
MTC_DEVICE uint32_t groupBase() {
  return uint32_t(__cvta_generic_to_shared(groupShared));
}

/// A block is one warpgroup; how many rows of it are in front of a warp's own.
MTC_DEVICE int ownRows() { return int(threadIdx.x) / 32 * 16; }

/// The 16 rows of a warp at `place` as left operands, 16 columns each.
template <int D>
MTC_DEVICE void loadRows(uint32_t (&rows)[4][4], uint32_t place) {
  static_assert(D == 64);
  LaneRow<D> lane;
#pragma unroll
  for (int k = 0; k < 4; ++k)
    loadMatrices(rows[k], place + lane.at(0, k));
}

/// c += a·b with b the 64 rows of a tile.
template <Element E>
MTC_DEVICE void addRows(float (&c)[8][4], const Packed<1, 8> &a,
                        uint32_t tile) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const uint32_t left[4] = {a.x[0][2 * k][0], a.x[0][2 * k][1],
                              a.x[0][2 * k + 1][0], a.x[0][2 * k + 1][1]};
    addTile<E>(c, left, rowsFrom(tileOf(tile), k));
  }
}

/// c = a·bᵀ of 64 rows of two tiles.
template <Element E>
MTC_DEVICE void rowsTimesRows(float (&c)[8][4], uint32_t a, uint32_t b) {
#pragma unroll
  for (int k = 0; k < 4; ++k)
    multiplyTiles<E>(c, columnsFrom(tileOf(a), k), columnsFrom(tileOf(b), k),
                     k > 0);
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_WGMMA_GROUPS_CUH
