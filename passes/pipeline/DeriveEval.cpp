//===- DeriveEval.cpp - --derive-eval -------------------------------------===//
//
// Establishes: @eval beside @microbatch, with the same arguments: its forward
// as it is where nothing is trained. Exports are in @eval alone, and what only
// they need.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/families/FamilyPass.h"
#include "passes/microbatch.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/SetVector.h"

namespace mtc::passes {
#define GEN_PASS_DEF_DERIVEEVAL
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;

namespace {

/// Whether a result of @microbatch is one of @eval, too.
bool isOfEval(func::FuncOp train, unsigned result) {
  return !train.getResultAttrOfType<tfm::GradAttr>(result, "tfm.grad");
}

/// Copies the forward ops of `train` but for those that only the backward
/// needs; fails, after a diagnostic, where the forward reads a backward value.
LogicalResult copyForward(func::FuncOp train, OpBuilder &b,
                          IRMapping &mapping) {
  for (Operation &op : train.front().without_terminator()) {
    if (tfm::isBackward(&op) || isa<tfm::SaveOp>(op))
      continue;
    for (Value operand : op.getOperands())
      if (!mapping.contains(operand))
        return op.emitOpError("expected operands of the forward, found one of "
                              "the backward, or what is saved for it");
    b.clone(op, mapping);
  }
  return success();
}

/// Ends `eval` with the results of `train` that are its own, with their
/// attributes.
LogicalResult copyResults(func::FuncOp train, func::FuncOp eval, OpBuilder &b,
                          const IRMapping &mapping) {
  SmallVector<Value> results;
  SmallVector<Type> types;
  SmallVector<Attribute> attributes;
  Operation *end = train.front().getTerminator();
  for (OpOperand &result : end->getOpOperands()) {
    unsigned i = result.getOperandNumber();
    if (!isOfEval(train, i))
      continue;
    Value value = mapping.lookupOrNull(result.get());
    if (!value)
      return end->emitOpError("expected result ")
             << i << " to be one of the forward, as it is no gradient";
    results.push_back(value);
    types.push_back(value.getType());
    attributes.push_back(train.getResultAttrDict(i) ? train.getResultAttrDict(i)
                                                    : b.getDictionaryAttr({}));
  }
  func::ReturnOp::create(b, end->getLoc(), results);
  eval.setFunctionType(b.getFunctionType(train.getArgumentTypes(), types));
  eval.setResAttrsAttr(b.getArrayAttr(attributes));
  return success();
}

FailureOr<func::FuncOp> copyOf(func::FuncOp train) {
  OpBuilder b(train->getContext());
  b.setInsertionPointAfter(train);
  auto eval =
      func::FuncOp::create(b, train.getLoc(), "eval",
                           b.getFunctionType(train.getArgumentTypes(), {}));
  if (ArrayAttr attributes = train.getArgAttrsAttr())
    eval.setArgAttrsAttr(attributes);
  Block *block = eval.addEntryBlock();
  IRMapping mapping;
  for (auto [from, to] :
       llvm::zip(train.getArguments(), block->getArguments())) {
    to.setLoc(from.getLoc());
    mapping.map(from, to);
  }
  b.setInsertionPointToStart(block);
  if (failed(copyForward(train, b, mapping)) ||
      failed(copyResults(train, eval, b, mapping)))
    return failure();
  return eval;
}

/// Erases an export and what it alone needs, such as a gather of logits: a
/// collective that nobody reads would be one that the shardings ask for.
void eraseExport(tfm::ExportOp op) {
  llvm::SmallSetVector<Operation *, 4> dead;
  dead.insert(op);
  while (!dead.empty()) {
    Operation *last = dead.pop_back_val();
    SmallVector<Value> operands(last->getOperands());
    last->erase();
    for (Value operand : operands)
      if (Operation *producer = operand.getDefiningOp();
          producer && isOpTriviallyDead(producer))
        dead.insert(producer);
  }
}

struct DeriveEvalPass
    : mtc::passes::FamilyPass<passes::impl::DeriveEvalBase<DeriveEvalPass>> {
  LogicalResult run() {
    ModuleOp module = getOperation();
    auto trains = mtc::passes::microbatchesOf(module);
    if (failed(trains))
      return failure();
    if (Operation *other = module.lookupSymbol("eval"))
      return other->emitOpError("expected no @eval yet: this phase makes it");
    FailureOr<func::FuncOp> eval = copyOf(trains->front());
    if (failed(eval))
      return failure();
    IRRewriter rewriter(module.getContext());
    eval->walk([&](families::EvalOpInterface op) { op.makeEval(rewriter); });
    for (func::FuncOp train : *trains)
      for (auto op : llvm::make_early_inc_range(train.getOps<tfm::ExportOp>()))
        eraseExport(op);
    return success();
  }

  void runPhase() override {
    if (failed(run()))
      signalPassFailure();
  }
};

} // namespace
