//===- gpu_kernels.h - the kernels of a plan as PTX -------------*- C++ -*-===//
//
// A GPU's kernels can be compiled, not run: no runtime launches them yet.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_GPU_KERNELS_H
#define MTC_COMPILER_GPU_KERNELS_H

#include "compiler/compile.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace mtc::compiler {

class DiagnosticLog;

/// The chip of the target in `mtc.config`: "cuda:sm_90" gives "sm_90", "cpu"
/// (or no target) gives "". Errors: inputRejected for another target;
/// infeasible for a GPU unless the options stop at `kernels`; usage for a GPU
/// without an output folder.
runtime::Status readGpuTarget(const CompileOptions &options,
                              mlir::ModuleOp module, std::string &chip);

/// Writes `options.output`/stageN.ptx and stageN.launches.json, which has
/// blocks, threads and workspace of every entry, for every program of a
/// verified plan. The folder, which must be new or empty, appears whole or not
/// at all, and equal inputs give equal bytes. `log` is that of the module's
/// context. Errors: usage, internal with the diagnostics, writeFailed.
runtime::Status writeGpuKernels(const CompileOptions &options,
                                mlir::ModuleOp module, const std::string &chip,
                                DiagnosticLog &log);

} // namespace mtc::compiler
#endif // MTC_COMPILER_GPU_KERNELS_H
