//===- gpu_kernel.h - kernels as entries of a GPU ---------------*- C++ -*-===//
#ifndef MTC_PASSES_CODEGEN_GPU_KERNEL_H
#define MTC_PASSES_CODEGEN_GPU_KERNEL_H

#include "dialects/rt/Rt.h"
#include "passes/codegen/gpu_launch.h"

namespace mtc::codegen {

/// Makes the entries of `kernel`, which stands in a gpu.module, next to it:
/// gpu.func @name(memref operands..., i64 args..., [i64 cols], i64 fields...,
/// [guard], [workspace]).
/// Memrefs are flat; bf16 and f16 are i16. `alignment` has bytes that every
/// address of each operand is a multiple of. The kernel stays where it is, but
/// may get other rows and columns of the same elements. Fails with a diagnostic
/// on what has no place in a GPU kernel.
mlir::FailureOr<GpuLaunch> buildGpuKernel(rt::KernelOp kernel,
                                          llvm::ArrayRef<int64_t> alignment);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_GPU_KERNEL_H
