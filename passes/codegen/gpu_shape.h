//===- gpu_shape.h - how a kernel is spread over a GPU ----------*- C++ -*-===//
//
// Decides, from a kernel's shape alone, which thread has which elements. The
// number of multiprocessors takes no part: the order of every sum, and so its
// bits, would depend on the card.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_CODEGEN_GPU_SHAPE_H
#define MTC_PASSES_CODEGEN_GPU_SHAPE_H

#include "passes/codegen/gpu_launch.h"
#include "passes/codegen/schedule.h"

namespace mtc::codegen {

/// Threads of a block that adds parts of sums.
inline constexpr int64_t kGpuSumThreads = 1024;

enum class GpuForm {
  Elements, ///< a vector of columns per thread, nothing shared
  Rows,     ///< a warp or a block per row
  Chunks,   ///< a block per chunk of rows; sums over rows end in a second entry
  Owners,   ///< a block has all rows that change what it owns
};

/// A sum over rows that blocks make parts of.
struct GpuSum {
  int64_t operand = 0;
  int64_t width = 0; ///< columns: 1 for a scalar operand
  int64_t start = 0; ///< of its columns among those of all sums
};

struct GpuShape {
  GpuForm form = GpuForm::Rows;
  int64_t lanes = 1;           ///< columns of one access of a thread
  bool lanesIfAligned = false; ///< a thread looks at the addresses first
  int64_t threads = 256;       ///< of a block: a power of two from 32 to 1024
  int64_t rowThreads = 32;     ///< of them that share a row
  int64_t blocks = 1;          ///< 0: by the number of columns
  int64_t columnsPerBlock = 0; ///< where `blocks` is 0
  int64_t rowsPerChunk = 1;
  llvm::SmallVector<GpuSum> sums;

  /// Blocks of the entry that adds parts: 32 columns each.
  int64_t blocksOfSums() const {
    return (sumWidth() + kGpuWarp - 1) / kGpuWarp;
  }
  int64_t workspaceBytes() const {
    return sums.empty() ? 0 : blocks * sumWidth() * 4;
  }
  /// A block makes its sums in shared memory, of which a kernel has so much
  /// without asking for more; 0: in the workspace.
  int64_t sharedBytes() const {
    return 4 * sumWidth() <= 48 * 1024 - 256 ? 4 * sumWidth() : 0;
  }
  /// Columns of all sums of one block, whole accesses of a thread.
  int64_t sumWidth() const {
    constexpr int64_t access = kGpuAccessBytes / 4;
    int64_t end = sums.empty() ? 0 : sums.back().start + sums.back().width;
    return (end + access - 1) / access * access;
  }
};

/// `alignment` has bytes that every address of each operand is a multiple of.
GpuShape gpuShape(const Schedule &schedule, llvm::ArrayRef<int64_t> alignment);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_GPU_SHAPE_H
