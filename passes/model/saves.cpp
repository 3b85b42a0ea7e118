//===- saves.cpp - what passes from forward to backward -------------------===//
#include "passes/model/saves.h"

#include "passes/families/epilogue.h"
#include "passes/families/family.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;

namespace mtc::model {

bool isForward(Value value) {
  Operation *def = value.getDefiningOp();
  return def && !tfm::isBackward(def);
}

//===--- cheap values -----------------------------------------------------===//

/// The values that computing `value` again would read.
static void collectLeaves(Value value, SmallVector<Value> &out) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return;
  if (!def->hasTrait<tfm::Cheap>()) {
    if (!llvm::is_contained(out, value))
      out.push_back(value);
    return;
  }
  for (Value operand : def->getOperands())
    collectLeaves(operand, out);
}

static int64_t sizeOf(Value value) {
  return cast<ShapedType>(value.getType()).getNumElements();
}
static int64_t bytesOf(Value value) {
  auto type = cast<ShapedType>(value.getType());
  return sizeOf(value) * type.getElementTypeBitWidth() / 8;
}

/// Whether `op` reads its operands in memory: it computes, and is no part of a
/// kernel.
static bool readsMemory(Operation *op) {
  auto family = dyn_cast<families::FamilyOpInterface>(op);
  return family && family.getFamily() != OpFamily::Structure &&
         !isa<families::KernelBodyOpInterface>(op);
}

/// Whether the forward has `value` in memory anyway.
static bool isInMemory(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return !tfm::isBackward(user) && readsMemory(user);
  });
}

/// Whether all of the forward's readers have it in memory.
static bool isReadInMemory(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return tfm::isBackward(user) || isa<tfm::SaveOp>(user) || readsMemory(user);
  });
}

/// Whether a product of the target writes `value` beside its GELU.
static bool isBesideGelu(Value value, TargetAttr target) {
  if (!target.hasEpilogue(Epilogue::Bias) ||
      !target.hasEpilogue(Epilogue::Gelu) ||
      !families::columnBias(value.getDefiningOp()))
    return false;
  SmallVector<Operation *> readers;
  for (Operation *user : value.getUsers())
    if (!tfm::isBackward(user) && !isa<tfm::SaveOp>(user))
      readers.push_back(user);
  return readers.size() == 1 && families::isGelu(readers.front()) &&
         isReadInMemory(readers.front()->getResult(0));
}

/// Whether all that is computed of `leaf` goes into `value`.
static bool servesOnly(Value leaf, Value value) {
  while (leaf != value) {
    if (!leaf.hasOneUse())
      return false;
    Operation *user = *leaf.user_begin();
    if (!user->hasTrait<tfm::Cheap>() || user->getNumResults() != 1)
      return false;
    leaf = user->getResult(0);
  }
  return true;
}

bool isCheap(Value value, TargetAttr target) {
  if (!value.getDefiningOp()->hasTrait<tfm::Cheap>())
    return false;
  SmallVector<Value> read;
  collectLeaves(value, read);
  llvm::erase_if(
      read, [size = sizeOf(value)](Value leaf) { return sizeOf(leaf) < size; });
  if (read.size() != 1)
    return read.empty();
  Value leaf = read.front();
  bool isThere = isInMemory(value) || isBesideGelu(value, target);
  return bytesOf(value) > bytesOf(leaf) || !isThere || !servesOnly(leaf, value);
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
