//===- Calls.h - ops that become calls of the runtime -----------*- C++ -*-===//
//
// Contractions, attention, with what moves its operands, what repeats indices,
// and collectives of dist. What is no call is arithmetic on elements and
// becomes a part of a kernel (Cluster.h).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PLAN_CALLS_H
#define MTC_PASSES_PLAN_CALLS_H

#include "passes/plan/Fragments.h"

#include "mlir/IR/PatternMatch.h"

namespace mtc::passes {

/// True for an op that becomes calls, with kernels around them or without.
bool isCall(mlir::Operation *op);
/// True for a sink that a GEMM takes with it: its only reader.
bool isTakenByCall(mlir::Operation *op);

/// Fails, with a diagnostic, on a call that no pattern takes.
mlir::LogicalResult checkCall(mlir::Operation *op);

/// A pattern for one kind of op that becomes calls.
template <typename Op> class CallPattern : public mlir::OpRewritePattern<Op> {
public:
  CallPattern(mlir::MLIRContext *context, const FragmentContext &around)
      : mlir::OpRewritePattern<Op>(context), around(around) {}

protected:
  const FragmentContext &around;
};

/// One pattern for each kind of call. They fail only where `checkCall` does;
/// `around` outlives them.
void populateGemmPatterns(mlir::RewritePatternSet &patterns,
                          const FragmentContext &around);
void populateAttentionPatterns(mlir::RewritePatternSet &patterns,
                               const FragmentContext &around);
void populateRepeatPatterns(mlir::RewritePatternSet &patterns,
                            const FragmentContext &around);
void populateCollectivePatterns(mlir::RewritePatternSet &patterns,
                                const FragmentContext &around);

/// Gives what was made of an op the op's layer, if it has one.
void keepLayer(mlir::Operation *from, mlir::Operation *to);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_CALLS_H
