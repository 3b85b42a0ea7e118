//===- emit_ptx.h - PTX text of kernels -------------------------*- C++ -*-===//
#ifndef MTC_PASSES_CODEGEN_EMIT_PTX_H
#define MTC_PASSES_CODEGEN_EMIT_PTX_H

#include "passes/codegen/gpu_launch.h"

#include "mlir/IR/Operation.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mtc::codegen {

/// PTX text of every rt.kernel in `source`, a module or a program, for a chip
/// such as sm_90, and how to launch them. Addresses of a kernel that nothing in
/// `source` launches are taken for starts of allocations. The same source gives
/// the same bytes. Errors: what `buildGpuKernel` cannot build, with its
/// diagnostic; a function that is called and not defined.
llvm::Expected<GpuProgram> emitPtx(mlir::Operation *source,
                                   llvm::StringRef chip);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_EMIT_PTX_H
