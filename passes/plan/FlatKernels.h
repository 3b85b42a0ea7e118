//===- FlatKernels.h - kernels over flat ranges -----------------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_FLATKERNELS_H
#define MTC_PASSES_PLAN_FLATKERNELS_H

#include "dialects/rt/Rt.h"

namespace mtc::passes {

/// A detached kernel over a flat range whose length is its argument. `fill`
/// writes the body and may append operands.
rt::KernelOp flatKernel(mlir::OpBuilder &b, mlir::Location loc,
                        llvm::SmallVector<mlir::Attribute> &operands,
                        llvm::function_ref<void(mlir::OpBuilder &)> fill);

/// The element of an operand of a body, widened to f32 where it is narrower.
mlir::Value loadWide(mlir::OpBuilder &b, mlir::Location loc, mlir::Type element,
                     int64_t operand);

/// The one that adds elements of its operand 1 to those of operand 0, both of
/// the type `element`; in f32, rounded once.
rt::KernelOp flatAddKernel(mlir::OpBuilder &b, mlir::Location loc,
                           mlir::Type element);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_FLATKERNELS_H
