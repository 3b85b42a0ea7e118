//===- tiles.cuh - rows of heads in shared memory ---------------*- C++ -*-===//
//
// A tile is rows of D elements. The 16-byte chunks of a row are permuted by the
// row, so that the same chunk of eight rows in a line, which one 8 x 8 matrix
// of ldmatrix is, lies in different banks.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_ATTENTION_TILES_CUH
#define MTC_RUNTIME_CUDA_ATTENTION_TILES_CUH

#include "runtime/cuda/attention/instructions.cuh"

namespace mtc::cuda {

/// A row's permutation is the exclusive or of a chunk's number with this. Rows
/// of 64 or 192 bytes start in one of two places of the banks, others in one.
template <int D> MTC_DEVICE uint32_t permutation(uint32_t row) {
  return D % 64 == 0 ? row & 7 : row >> 1 & 3;
}

template <int D> MTC_DEVICE uint32_t chunkOffset(uint32_t row, uint32_t chunk) {
  return row * (2 * D) + ((chunk ^ permutation<D>(row)) << 4);
}

/// Where this lane's row of a 16 x 16 block begins, for ldmatrix: lanes 0 to 15
/// have the rows' first chunks, 16 to 31 the second ones. One addressing serves
/// all three kinds of operand, which differ in which register is what.
template <int D> struct LaneRow {
  uint32_t row, low;

  MTC_DEVICE LaneRow() {
    uint32_t lane = threadIdx.x & 31;
    row = (lane & 15) * (2 * D);
    low = (permutation<D>(lane & 15) ^ lane >> 4) << 4;
  }
  /// Called in a loop, keeps the compiler from holding offsets in registers
  /// over the loop, of which products need all.
  MTC_DEVICE void forget() { asm volatile("" : "+r"(low)); }
  /// Offset of columns 16·k of the 16 rows from 16·block on.
  MTC_DEVICE uint32_t at(int block, int k) const {
    constexpr int kPeriod = D % 64 == 0 ? 4 : 2;
    return row + (uint32_t(k % kPeriod * 32) ^ low) +
           uint32_t(k / kPeriod * kPeriod * 32 + block * 32 * D);
  }
};

/// Rows of one head in device memory.
template <class T> struct HeadRows {
  T *p;
  int64_t stride; ///< elements from row to row
  int count;      ///< rows that exist
  int chunks;     ///< of 16 bytes, that a row has; those of a tile may be more
};

/// Lanes that take a row's chunks in turn.
template <int D> constexpr int kRowLanes = D % 64 == 0 ? 8 : 4;

/// Starts the copy of Rows rows from `from` on; what does not exist becomes
/// zero.
template <int D, int Rows, int Threads>
MTC_DEVICE void copyRows(uint32_t to, const HeadRows<const uint16_t> &rows,
                         int from) {
  constexpr int kLanes = kRowLanes<D>, kAtOnce = Threads / kLanes;
  static_assert(Rows % kAtOnce == 0 || Rows < kAtOnce);
  int row = int(threadIdx.x) / kLanes, chunk = int(threadIdx.x) % kLanes;
  if (Rows < kAtOnce && row >= Rows)
    return;
  const uint16_t *p = rows.p + (from + row) * rows.stride + 8 * chunk;
#pragma unroll
  for (int r = 0; r < Rows; r += kAtOnce, p += kAtOnce * rows.stride) {
    bool exists = from + row + r < rows.count;
    const uint16_t *source = exists ? p : rows.p;
#pragma unroll
    for (int c = 0; c < D / 8; c += kLanes)
      copyAsync16(to + chunkOffset<D>(row + r, chunk + c), source + 8 * c,
                  exists && chunk + c < rows.chunks);
  }
}

/// Rounds the 16·M x D values of a warp times a factor to its rows, from `from`
/// on, through shared memory at `own`, which only this warp
/// uses. Lane 4g + t has columns 2t and 2t + 1 of rows g and g + 8.
template <Element E, int D, int M>
MTC_DEVICE void storeRows(const HeadRows<uint16_t> &rows, int from,
                          uint32_t own, const float (&x)[M][D / 8][4],
                          float factor) {
  uint32_t lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int n = 0; n < D / 8; ++n)
        store32(own + chunkOffset<D>(m * 16 + h * 8 + g, n) + 4 * t,
                pack<E>(x[m][n][2 * h] * factor, x[m][n][2 * h + 1] * factor));
  __syncwarp();
  constexpr int kLanes = kRowLanes<D>;
  int row = int(lane) / kLanes, chunk = int(lane) % kLanes;
#pragma unroll
  for (int r = 0; r < 16 * M; r += 32 / kLanes)
#pragma unroll
    for (int c = 0; c < D / 8; c += kLanes)
      if (from + row + r < rows.count && chunk + c < rows.chunks)
        *reinterpret_cast<uint4 *>(rows.p + (from + row + r) * rows.stride +
                                   8 * (chunk + c)) =
            load128(own + chunkOffset<D>(row + r, chunk + c));
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_ATTENTION_TILES_CUH
