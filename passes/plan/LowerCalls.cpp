//===- LowerCalls.cpp - --lower-calls -------------------------------------===//
//
// Establishes: fragments hold rt.launch, rt.gemm, rt.attention, rt.collective
// on tensors, and the boundary ops of pipe; no tfm or dist op is left.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/families/FamilyPass.h"
#include "passes/plan/Calls.h"
#include "passes/plan/ProgramPhase.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mtc::passes {
#define GEN_PASS_DEF_LOWERCALLS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

/// Fails, with a diagnostic, on an op that would be left over.
LogicalResult checkOp(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool isUnread = isa<tfm::FillOp>(op) && op->use_empty();
  if (isCall(op))
    return checkCall(op);
  if (isa<rt::ClusterOp>(op) ||
      (isSink(op) ? !isTakenByCall(op) : dialect == "tfm" && !isUnread))
    return op->emitOpError("expected ops of kernels in an rt.cluster before "
                           "outline-kernels, found one outside of all");
  return success();
}

/// The calls of a fragment, after a check of all its ops.
FailureOr<SmallVector<Operation *>> callsOf(func::FuncOp fn) {
  SmallVector<Operation *> calls;
  bool good = true;
  for (Operation &op : fn.getBody().front()) {
    good &= succeeded(checkOp(&op));
    if (isCall(&op))
      calls.push_back(&op);
  }
  if (!good)
    return failure();
  return calls;
}

/// Sources that no kernel and no call reads any more.
void eraseUnread(func::FuncOp fn) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(fn.getBody().front())))
    if (op.use_empty() &&
        isa<tfm::FillOp, pipe::SampleOp, pipe::ParamOp, pipe::SavedOp,
            pipe::InputOp, pipe::ReceivedOp>(op))
      op.erase();
}

LogicalResult lowerCalls(func::FuncOp fn, const FragmentContext &around) {
  FailureOr<SmallVector<Operation *>> calls = callsOf(fn);
  if (failed(calls))
    return failure();
  RewritePatternSet patterns(fn.getContext());
  populateGemmPatterns(patterns, around);
  populateAttentionPatterns(patterns, around);
  populateRepeatPatterns(patterns, around);
  populateCollectivePatterns(patterns, around);
  // Each call is lowered once, and what is made of it is no call. The driver
  // takes the last of the list first: kernels are numbered in program order.
  std::reverse(calls->begin(), calls->end());
  auto config = GreedyRewriteConfig().enableFolding(false).setStrictness(
      GreedyRewriteStrictness::ExistingOps);
  LogicalResult done =
      applyOpPatternsGreedily(*calls, std::move(patterns), config);
  eraseUnread(fn);
  return done;
}

struct LowerCallsPass
    : ProgramPhase<
          FamilyPass<mtc::passes::impl::LowerCallsBase<LowerCallsPass>>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ProgramPhase::getDependentDialects(registry);
    registry
        .insert<rt::RtDialect, arith::ArithDialect, tensor::TensorDialect>();
  }
  LogicalResult runOnProgram(rt::ProgramOp program) const override {
    return lowerFragments(program, lowerCalls);
  }
};

} // namespace
