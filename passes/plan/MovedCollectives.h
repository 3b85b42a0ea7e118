//===- MovedCollectives.h - calls of the update in other fragments --------===//
//
// What overlaps with computations leaves `reduce` or `apply` for a fragment of
// microbatches, or for a form of one that a single microbatch runs.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PLAN_MOVEDCOLLECTIVES_H
#define MTC_PASSES_PLAN_MOVEDCOLLECTIVES_H

#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <map>
#include <vector>

namespace mtc::passes {

/// Collectives that can go, of each bucket, by its number; in their order.
using MovableCollectives = std::map<int64_t, std::vector<rt::CollectiveOp>>;

/// The fragment of the update of that phase; null if the program has none.
mlir::func::FuncOp updateOf(rt::ProgramOp program, pipe::Phase phase);

/// The bucket whose part of that kind a buffer is of, moved or not; -1 if of
/// none.
int64_t bucketOf(mlir::Value buffer, rt::RefKind kind);

/// Whether its members are of one stage: others reach the same point of their
/// programs at another time.
bool staysOnStage(rt::CollectiveOp op);

/// A copy of `fn` behind it, for a microbatch of which `condition` holds as
/// well; its name says so, where conditions have one order.
mlir::func::FuncOp cloneForm(mlir::func::FuncOp fn, pipe::Form condition);

/// Copies the collectives to where `b` is, in their order and with the
/// addresses that they work on, and erases them where they were. Their location
/// becomes `loc`.
void moveCollectives(llvm::ArrayRef<rt::CollectiveOp> ops, mlir::OpBuilder &b,
                     mlir::Location loc);
/// The two halves of that, for what goes to several places.
void copyCollectives(llvm::ArrayRef<rt::CollectiveOp> ops, mlir::OpBuilder &b,
                     mlir::Location loc);
void eraseCollectives(llvm::ArrayRef<rt::CollectiveOp> ops);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_MOVEDCOLLECTIVES_H
