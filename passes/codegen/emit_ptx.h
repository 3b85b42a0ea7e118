//===- emit_ptx.h - PTX text of kernels -------------------------*- C++ -*-===//
#ifndef MTC_PASSES_CODEGEN_EMIT_PTX_H
#define MTC_PASSES_CODEGEN_EMIT_PTX_H

#include "passes/codegen/gpu_launch.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mtc::codegen {

/// Whether the code of one source serves another: kernels of the same names, of
/// the same structure, with the same addresses proved aligned, in one order.
bool haveSameGpuCode(mlir::Operation *one, mlir::Operation *other);

/// PTX text of every rt.kernel in `source`, a module or a program, for each of
/// some chips, such as sm_90, and how to launch them, which is one for all.
/// Addresses of a kernel that nothing in `source` launches are taken for starts
/// of allocations. The same source gives the same bytes. Errors: what
/// `buildGpuKernel` cannot build, with its diagnostic; a function that is
/// called and not defined.
llvm::Expected<GpuProgram> emitPtx(mlir::Operation *source,
                                   llvm::ArrayRef<std::string> chips);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_EMIT_PTX_H
