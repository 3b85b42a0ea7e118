//===- staging.cuh - tiles of operands in shared memory ---------*- C++ -*-===//
//
// A tile is Rows x Columns elements as the operand is stored: k runs along its
// rows, or along its columns. Rows are chunks of 16 bytes; where a chunk lies
// in shared memory is the kernel's affair. What the matrix does not have is
// zero, which adds nothing to sums, and no byte behind its end is read.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_GEMM_STAGING_CUH
#define MTC_RUNTIME_CUDA_GEMM_STAGING_CUH

#include "runtime/cuda/attention/instructions.cuh"
#include "runtime/cuda/gemm/gemm_params.h"

namespace mtc::cuda {

/// Copies `bytes` of 16 bytes, at most all, and zeros in place of the rest.
MTC_DEVICE void copyAsyncPart(uint32_t to, const void *from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to),
               "l"(from), "r"(bytes)
               : "memory");
}
MTC_DEVICE void store128(uint32_t to, uint32_t x, uint32_t y, uint32_t z,
                         uint32_t w) {
  asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(to), "r"(x),
               "r"(y), "r"(z), "r"(w)
               : "memory");
}

/// A matrix in device memory.
template <class T> struct Matrix {
  const T *p;
  int64_t stride; ///< elements from row to row
  int rows, columns;

  /// Whether every chunk is at a multiple of 16 bytes.
  MTC_DEVICE bool isAligned() const {
    return reinterpret_cast<uintptr_t>(p) % 16 == 0 &&
           stride * int64_t(sizeof(T)) % 16 == 0;
  }
};

/// The chunk of elements from `column` on, of a row that may not exist, without
/// alignment.
MTC_DEVICE void copyChunk(uint32_t to, const Matrix<uint32_t> &m, int row,
                          int column) {
  const uint32_t *from = m.p + row * m.stride + column;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    bool exists = row < m.rows && column + e < m.columns;
    copyAsync4(to + 4 * e, exists ? from + e : m.p, exists);
  }
}
MTC_DEVICE void copyChunk(uint32_t to, const Matrix<uint16_t> &m, int row,
                          int column) {
  const uint16_t *from = m.p + row * m.stride + column;
  uint32_t x[4];
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    bool exists = row < m.rows && column + e < m.columns;
    uint32_t value = exists ? from[e] : 0;
    x[e / 2] = e % 2 ? x[e / 2] | value << 16 : value;
  }
  store128(to, x[0], x[1], x[2], x[3]);
}

/// Starts the copy of the tile whose first element is at `row` and `column`, by
/// all Threads threads. `place(row, chunk)` is where a chunk of the tile goes.
template <int Rows, int Columns, int Threads, class T, class Place>
MTC_DEVICE void stageTile(const Matrix<T> &m, bool aligned, int row, int column,
                          const Place &place) {
  constexpr int kPer = 16 / sizeof(T), kChunks = Columns / kPer;
  constexpr int kAtOnce = Threads / kChunks;
  static_assert(Threads % kChunks == 0 && Rows % kAtOnce == 0);
  int r = int(threadIdx.x) / kChunks, chunk = int(threadIdx.x) % kChunks;
  column += chunk * kPer;
  if (!aligned) {
#pragma unroll 1
    for (; r < Rows; r += kAtOnce)
      copyChunk(place(r, chunk), m, row + r, column);
    return;
  }
  int bytes = min(max(m.columns - column, 0), kPer) * int(sizeof(T));
#pragma unroll
  for (int i = 0; i < Rows; i += kAtOnce) {
    bool exists = row + r + i < m.rows && bytes > 0;
    const T *from = m.p + (row + r + i) * m.stride + column;
    copyAsyncPart(place(r + i, chunk), exists ? from : m.p, exists ? bytes : 0);
  }
}

/// Where the block's tile of c begins: the tiles of eight rows of tiles come
/// column by column, so that blocks that run at the same time share operands.
struct TilePlace {
  int row, column;

  MTC_DEVICE TilePlace(int tileRows, int tileColumns, const GemmParams &p) {
    int rows = (p.m + tileRows - 1) / tileRows;
    int columns = (p.n + tileColumns - 1) / tileColumns;
    constexpr int kGroup = 8;
    int group = int(blockIdx.x) / (kGroup * columns);
    int in = int(blockIdx.x) % (kGroup * columns);
    int first = group * kGroup, size = min(rows - first, kGroup);
    row = (first + in % size) * tileRows;
    column = in / size * tileColumns;
  }
};

/// Runs `stage(buffer, step)` one step before `compute(buffer)`, in two buffers
/// in turn.
template <class Stage, class Compute>
MTC_DEVICE void pipelined(int steps, const Stage &stage,
                          const Compute &compute) {
  for (int step = -1; step < steps; ++step) {
    if (step >= 0) {
      waitForCopies<0>();
      __syncthreads();
    }
    // The barrier says that nobody reads that buffer any more.
    if (step + 1 < steps)
      stage((step + 1) & 1, step + 1);
    commitCopies();
    if (step >= 0)
      compute(step & 1);
  }
}

MTC_DEVICE uint32_t sharedAddress(const void *p) {
  return uint32_t(__cvta_generic_to_shared(p));
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_GEMM_STAGING_CUH
