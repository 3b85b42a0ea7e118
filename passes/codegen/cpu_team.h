//===- cpu_team.h - a kernel on all threads of a rank -----------*- C++ -*-===//
//
// Decides, from a kernel's shape alone, which thread computes what. Every
// element is computed by one thread, from the same values in the same order as
// by a single one: no bit depends on the number of threads.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_CODEGEN_CPU_TEAM_H
#define MTC_PASSES_CODEGEN_CPU_TEAM_H

#include "passes/codegen/schedule.h"

namespace mtc::codegen {

/// Row buffers of a kernel for CPUs live on the stack: so many elements each at
/// most.
inline constexpr int64_t kCpuRowBuffer = 16384;

enum class TeamForm {
  One,     ///< the first thread does it: the only row, or sums into one number
  Rows,    ///< a range of rows each
  Columns, ///< a range of columns of all rows each: nothing joins columns
  /// Rounds of a block of rows each. What is to be added to sums over rows is
  /// kept in the workspace, then added in the order of rows: by ranges of
  /// columns, through which the threads go one behind the other.
  Blocks,
};

struct TeamShape {
  TeamForm form = TeamForm::One;
  /// Of Blocks: the sinks that change what other rows change, too.
  llvm::SmallVector<mlir::Operation *> sums;
  int64_t rowsPerBlock = 0; ///< of Blocks: of one thread in a round
  int64_t workspaceBytes = 0;
};

TeamShape teamShape(const Schedule &schedule, int64_t threads);

/// Bytes of workspace that `kernel` needs on `threads` threads. A kernel that
/// cannot be scheduled, of which codegen-kernels says why, needs none.
int64_t teamWorkspace(rt::KernelOp kernel, int64_t threads);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_CPU_TEAM_H
