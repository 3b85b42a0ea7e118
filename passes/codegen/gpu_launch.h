//===- gpu_launch.h - what starts a kernel on a GPU -------------*- C++ -*-===//
#ifndef MTC_PASSES_CODEGEN_GPU_LAUNCH_H
#define MTC_PASSES_CODEGEN_GPU_LAUNCH_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mtc::codegen {

inline constexpr int64_t kGpuWarp = 32; ///< threads that run in lock step
/// The widest access of a thread to memory.
inline constexpr int64_t kGpuAccessBytes = 16;

/// One entry of the PTX with its launch. All entries of a kernel take the same
/// parameters: the operands' addresses, the i64 arguments, the number of
/// columns where it is dynamic, for each argument the address of an i64 that is
/// added to it, or 0, of a guarded kernel the address of `applies` in the step
/// block, and the address of the workspace where there is one.
struct GpuEntry {
  std::string name;
  int64_t threads = 0; ///< of a block, in one dimension; also its `.reqntid`
  int64_t blocks = 0;  ///< 0: as many as columns need
  int64_t columnsPerBlock = 0; ///< where `blocks` is 0
  int64_t sharedBytes = 0;     ///< of dynamic shared memory

  /// 0 for no columns: then nothing is launched.
  int64_t blocksFor(int64_t cols) const {
    return blocks ? blocks : (cols + columnsPerBlock - 1) / columnsPerBlock;
  }
};

struct GpuLaunch {
  std::string kernel;
  std::vector<GpuEntry> entries; ///< launched one after the other
  int64_t arguments = 0;         ///< i64 ones
  bool guarded = false;
  int64_t workspaceBytes = 0; ///< need not be initialised; 16-byte aligned
};

/// Of kernels, for one chip.
struct GpuCode {
  std::string chip; ///< "sm_90"
  std::string ptx;
  std::string cubin; ///< that ptxas made of it; empty: nobody asked
  /// Of a thread, in local memory, of entries that have any in the cubin.
  std::map<std::string, int64_t> localBytes;
};

/// The code of a program for GPUs.
struct GpuProgram {
  std::vector<GpuCode> code;       ///< one a chip
  std::vector<GpuLaunch> launches; ///< one a kernel, in the source's order
};

/// On an rt.launch in a copy that becomes fragments of a GPU: three numbers for
/// each entry, its row in the descriptor's `kernels`, `blocks` and
/// `columnsPerBlock`, and three that say how many i64 arguments there are,
/// whether it is guarded and whether there is a workspace.
inline constexpr const char *kEntriesAttr = "mtc.gpu_entries";

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_GPU_LAUNCH_H
