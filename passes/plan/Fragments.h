//===- Fragments.h - what fragments are lowered with ------------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_FRAGMENTS_H
#define MTC_PASSES_PLAN_FRAGMENTS_H

#include "passes/plan/KernelPool.h"
#include "passes/plan/Sinks.h"

#include "mlir/IR/BuiltinOps.h"

namespace mtc::passes {

/// What lowering a fragment needs beside its ops.
struct FragmentContext {
  const ParamTable &params;         ///< of its program
  const Accumulators &accumulators; ///< of all its sinks
  KernelPool &pool;                 ///< of its program
  rt::Affine sampleBase;            ///< id of the first of a rank's own samples

  /// The id of the first sample that a rank has of the value: its dimension 0
  /// has the rank's own samples, or, where dp does not split it, all of the
  /// microbatch.
  rt::Affine firstSampleOf(mlir::Value value) const;
};

/// The fragments of a program that run once per microbatch, in order: all but
/// the update, which is written in kernels and calls from the start.
llvm::SmallVector<mlir::func::FuncOp>
microbatchFragments(rt::ProgramOp program);

/// Makes the accumulators of each such fragment of a program and calls `lower`,
/// up to the first that fails. Fails, with a diagnostic, also on an op that
/// takes a rank's coordinate on an axis which splits no tensors.
mlir::LogicalResult
lowerFragments(rt::ProgramOp program,
               llvm::function_ref<mlir::LogicalResult(mlir::func::FuncOp,
                                                      const FragmentContext &)>
                   lower);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_FRAGMENTS_H
