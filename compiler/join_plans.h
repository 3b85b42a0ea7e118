//===- join_plans.h - one program for steps of several shapes ---*- C++ -*-===//
//
// A strategy may name several lengths of samples and several global batches.
// Each length with each batch has a plan of its own, a module inside the
// module, that goes through all phases like any other; they differ in what a
// microbatch is, or in how many there are. Behind `verify-plan` they are
// joined: a program then has the entries of all of them, on one set of arenas.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_JOIN_PLANS_H
#define MTC_COMPILER_JOIN_PLANS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <vector>

namespace mtc::compiler {

/// The plans of a module: itself, or the modules in it, that of the largest
/// step first.
std::vector<mlir::ModuleOp> plansOf(mlir::ModuleOp module);

/// A module of plans of the same phase, that of the largest step first. Takes
/// them over.
mlir::OwningOpRef<mlir::ModuleOp>
bundlePlans(llvm::MutableArrayRef<mlir::OwningOpRef<mlir::ModuleOp>> plans);

/// Makes one plan of the verified ones in `module`, that of the largest step
/// with what others have beside it: the fragments and kernels that are not the
/// same, and timelines, under the names of `entryName`. Arenas are as large as
/// the largest. A plan that is alone stays as it is. Fails, after diagnostics,
/// where parameters, buckets, states or updates of two plans differ, which
/// edited IR may: then they cannot be the same memory.
mlir::LogicalResult joinPlans(mlir::ModuleOp module);

} // namespace mtc::compiler
#endif // MTC_COMPILER_JOIN_PLANS_H
