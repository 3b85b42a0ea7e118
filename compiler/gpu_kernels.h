//===- gpu_kernels.h - the kernels of a plan as PTX -------------*- C++ -*-===//
//
// In programs for GPUs, or as files.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_GPU_KERNELS_H
#define MTC_COMPILER_GPU_KERNELS_H

#include "compiler/compile.h"
#include "compiler/plan.h"

#include "llvm/ADT/ArrayRef.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace mtc::compiler {

class DiagnosticLog;

/// The chips of the target in `mtc.config`: "cuda:sm_80,sm_90" gives "sm_80"
/// and "sm_90", "cpu" (or no target) none, as does a stop in front of code.
/// Errors: infeasible for another target, and for a GPU if the options stop
/// behind its kernels and in front of programs; usage for kernels without an
/// output folder.
runtime::Status readGpuTarget(const CompileOptions &options,
                              mlir::ModuleOp module,
                              std::vector<std::string> &chips);

/// Whether a GPU has all calls of a plan. Errors: infeasible, with the call's
/// place in the model.
runtime::Status checkGpuCalls(mlir::ModuleOp module);

/// Compiles the kernels of every program for each chip, and where `isAssembled`
/// has ptxas assemble them, those of alike programs once: its `gpu`, and
/// `kernels` and `kernelWorkspace` of its descriptor. Equal inputs give equal
/// bytes, of one ptxas. `log` is that of the module's context. Errors: internal
/// with the diagnostics; inputRejected, where ptxas takes the PTX for none.
runtime::Status addGpuCode(mlir::ModuleOp module,
                           llvm::ArrayRef<std::string> chips, bool isAssembled,
                           DiagnosticLog &log, BundlePlan &plan);

/// Writes `options.output`/stageN.ptx, of several chips stageN.CHIP.ptx of
/// each, .cubin of what was assembled, and stageN.launches.json, which has
/// blocks, threads and workspace of every entry and whether its kernel is
/// guarded, for every program of a plan that has its code, and report.json and
/// report.txt. The folder, which must be new or empty, appears whole or not at
/// all. Errors: usage, writeFailed.
runtime::Status writeGpuKernels(const CompileOptions &options,
                                const BundlePlan &plan);

} // namespace mtc::compiler
#endif // MTC_COMPILER_GPU_KERNELS_H
