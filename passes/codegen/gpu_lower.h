//===- gpu_lower.h - GPU kernels to the LLVM and NVVM dialects --*- C++ -*-===//
#ifndef MTC_PASSES_CODEGEN_GPU_LOWER_H
#define MTC_PASSES_CODEGEN_GPU_LOWER_H

#include "mlir/IR/BuiltinOps.h"

namespace mtc::codegen {

/// Loads the dialects that GPU kernels are made of and lowered to. Once, before
/// threads of the context lower some.
void loadGpuDialects(mlir::MLIRContext &context);

/// Lowers every gpu.module of `module` to the LLVM and NVVM dialects. Memrefs
/// become bare pointers and must have static shapes.
mlir::LogicalResult lowerGpu(mlir::ModuleOp module);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_GPU_LOWER_H
