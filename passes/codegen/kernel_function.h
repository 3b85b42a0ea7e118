//===- kernel_function.h - functions made of kernels ------------*- C++ -*-===//
#ifndef MTC_PASSES_CODEGEN_KERNEL_FUNCTION_H
#define MTC_PASSES_CODEGEN_KERNEL_FUNCTION_H

#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::codegen {

/// What a kernel is written for.
struct CpuVectors {
  int64_t lanes = 16;      ///< fp32 values of a vector, a power of two
  bool nativeBf16 = false; ///< an instruction rounds f32 to bf16 (it flushes
                           ///< denormals to zero; else plain integer code does)
  int64_t threads = 1;     ///< of a rank; with more than one a kernel is called
                           ///< by each (cpu_team.h)
};

/// Makes `func.func @name(memref operands..., i64 args..., [i64 cols])` next to
/// the kernel, for `vectors`. Memrefs are flat; bf16 and f16 are i16. With
/// several threads it has three parameters more: the workspace, a flat memref
/// of i32 (`teamWorkspace` bytes), and as i64 the part and the number of parts
/// that are called at the same time. A tiled one has four i64 more instead: the
/// first row, the one behind the last, and the same of columns. The kernel
/// stays where it is.
mlir::FailureOr<mlir::func::FuncOp> buildCpuKernel(rt::KernelOp kernel,
                                                   const CpuVectors &vectors);

/// The types of a kernel function's parameters, without those of a team.
llvm::SmallVector<mlir::Type> kernelParameters(rt::KernelOp kernel,
                                               mlir::OpBuilder &b);

/// A function with the kernel's signature and `more` parameters, and an empty
/// entry block.
mlir::func::FuncOp makeKernelFunction(rt::KernelOp kernel,
                                      mlir::ImplicitLocOpBuilder &b,
                                      mlir::TypeRange more = {});

/// The number of columns as an index, at the builder.
mlir::Value emitCols(rt::KernelOp kernel, mlir::func::FuncOp function,
                     mlir::ImplicitLocOpBuilder &b);

/// A kernel whose elements are independent of their place becomes one row, so
/// that odd numbers of columns cost nothing. Changes rows and cols only.
void flattenPointwise(rt::KernelOp kernel);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_KERNEL_FUNCTION_H
