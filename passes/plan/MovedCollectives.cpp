//===- MovedCollectives.cpp - calls of the update in other fragments ------===//
#include "passes/plan/MovedCollectives.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace mtc::passes {

func::FuncOp updateOf(rt::ProgramOp program, pipe::Phase phase) {
  for (auto fn : program.getOps<func::FuncOp>())
    if (auto of = pipe::FragmentAttr::of(fn); of && of.getPhase() == phase)
      return fn;
  return {};
}

int64_t bucketOf(Value buffer, rt::RefKind kind) {
  while (auto moved = buffer.getDefiningOp<rt::OffsetViewOp>())
    buffer = moved.getView();
  auto ref = buffer.getDefiningOp<rt::RefOp>();
  return ref && ref.getKind() == kind
             ? static_cast<int64_t>(ref.getBucket().value_or(-1))
             : -1;
}

bool staysOnStage(rt::CollectiveOp op) {
  return !kGroups[op.getGroup()].along(MTC_AXIS_PP);
}

func::FuncOp cloneForm(func::FuncOp fn, pipe::Form condition) {
  pipe::FragmentAttr of = pipe::FragmentAttr::of(fn), form = of.with(condition);
  StringRef name = fn.getSymName();
  name.consume_back(of.formSuffix());
  func::FuncOp made = fn.clone();
  made.setSymName((name + form.formSuffix()).str());
  made->setAttr(pipe::FragmentAttr::attrName, form);
  fn->getBlock()->getOperations().insertAfter(fn->getIterator(), made);
  return made;
}

/// With the addresses that it works on.
static void copy(Operation *op, OpBuilder &b, IRMapping &copies, Location loc) {
  for (Value operand : op->getOperands())
    if (!copies.contains(operand))
      copy(operand.getDefiningOp(), b, copies, loc);
  b.clone(*op, copies)->setLoc(loc);
}

/// With the addresses that nothing else needs.
static void erase(Operation *op) {
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (Value operand : operands)
    if (Operation *address = operand.getDefiningOp();
        address && isOpTriviallyDead(address))
      erase(address);
}

void copyCollectives(ArrayRef<rt::CollectiveOp> ops, OpBuilder &b,
                     Location loc) {
  IRMapping copies;
  for (rt::CollectiveOp op : ops)
    copy(op, b, copies, loc);
}

void eraseCollectives(ArrayRef<rt::CollectiveOp> ops) {
  for (rt::CollectiveOp op : ops)
    erase(op);
}

void moveCollectives(ArrayRef<rt::CollectiveOp> ops, OpBuilder &b,
                     Location loc) {
  copyCollectives(ops, b, loc);
  eraseCollectives(ops);
}

} // namespace mtc::passes
