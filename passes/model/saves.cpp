//===- saves.cpp - what passes from forward to backward -------------------===//
#include "passes/model/saves.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace mtc::model {

bool isForward(Value value) {
  Operation *def = value.getDefiningOp();
  return def && !tfm::isBackward(def);
}

//===--- cheap values -----------------------------------------------------===//

/// The values that computing `value` again would read.
static void collectLeaves(Value value, llvm::SetVector<Value> &out) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return;
  if (!def->hasTrait<tfm::Cheap>()) {
    out.insert(value);
    return;
  }
  for (Value operand : def->getOperands())
    collectLeaves(operand, out);
}

static int64_t sizeOf(Value value) {
  return cast<ShapedType>(value.getType()).getNumElements();
}

bool isCheap(Value value) {
  if (!value.getDefiningOp()->hasTrait<tfm::Cheap>())
    return false;
  llvm::SetVector<Value> read;
  collectLeaves(value, read);
  return llvm::count_if(read, [size = sizeOf(value)](Value leaf) {
           return sizeOf(leaf) >= size;
         }) <= 1;
}

//===--- making them ------------------------------------------------------===//

static void mark(OpBuilder &b, Operation *op, int64_t layer, StringRef phase) {
  op->setAttr(tfm::layerAttr, b.getI64IntegerAttr(layer));
  op->setAttr(tfm::phaseAttr, b.getStringAttr(phase));
}

tfm::SaveOp saveIn(OpBuilder &b, Value value, int64_t layer) {
  Operation *at = value.getDefiningOp()->getNextNode();
  if (tfm::layerOf(value.getDefiningOp()) != layer)
    for (Operation *op = at; op && !tfm::isBackward(op); op = op->getNextNode())
      if (tfm::layerOf(op) == layer &&
          llvm::is_contained(op->getOperands(), value)) {
        at = op;
        break;
      }
  b.setInsertionPoint(at);
  auto save = tfm::SaveOp::create(b, value.getLoc(), value.getType(), value);
  mark(b, save, layer, "forward");
  return save;
}

tfm::RestoreOp restoreBefore(OpBuilder &b, tfm::SaveOp save,
                             Operation *reader) {
  b.setInsertionPoint(reader);
  auto restored = tfm::RestoreOp::create(b, save.getLoc(), save.getType(),
                                         save.getResult());
  mark(b, restored, tfm::layerOf(save), "backward");
  return restored;
}

Operation *copyBefore(OpBuilder &b, Operation *op, ValueRange operands,
                      Operation *reader) {
  b.setInsertionPoint(reader);
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  mark(b, copy, tfm::layerOf(reader), "backward");
  copy->removeAttr(tfm::idAttr);
  return copy;
}

} // namespace mtc::model
