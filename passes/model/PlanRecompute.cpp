//===- PlanRecompute.cpp - --plan-recompute -------------------------------===//
//
// Establishes: what the strategy's `recompute` names is not saved; the backward
// computes it again, once per layer, before its first reader there.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/families/FamilyPass.h"
#include "passes/microbatch.h"
#include "passes/model/recompute_policy.h"
#include "passes/model/saves.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace mtc::passes {
#define GEN_PASS_DEF_PLANRECOMPUTE
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::model;

namespace {

/// A value of the forward, and a layer whose backward reads it.
using ValueInLayer = std::pair<Value, int64_t>;

class Recomputer {
public:
  Recomputer(func::FuncOp fn, const Recomputation &policy, TargetAttr target)
      : fn(fn), policy(policy), target(target), b(fn.getContext()) {}
  LogicalResult run();

private:
  void findSaves();
  bool isDropped(tfm::SaveOp save) const;
  bool isCopied(Value value, int64_t layer) const;
  FailureOr<Value> inBackward(Value value, Operation *reader);
  FailureOr<Value> copied(Value value, Operation *reader);
  Value restored(Value value, Operation *reader);
  LogicalResult replaceReads(Operation *reader);
  void shareCopies();
  void eraseUnread();

  func::FuncOp fn;
  const Recomputation &policy;
  TargetAttr target;
  OpBuilder b;
  llvm::DenseMap<ValueInLayer, tfm::SaveOp> kept; ///< looked up only
  llvm::DenseMap<ValueInLayer, Value> made;       ///< looked up only
};

/// A value that another layer makes is an input of this one: it stays.
bool Recomputer::isDropped(tfm::SaveOp save) const {
  Operation *def = save.getX().getDefiningOp();
  return def && tfm::layerOf(def) == tfm::layerOf(save) &&
         policy.computesAgain(def);
}

void Recomputer::findSaves() {
  for (auto save : fn.getOps<tfm::SaveOp>())
    if (!isDropped(save))
      kept.try_emplace({save.getX(), tfm::layerOf(save)}, save);
}

bool Recomputer::isCopied(Value value, int64_t layer) const {
  Operation *def = value.getDefiningOp();
  return (tfm::layerOf(def) == layer && policy.computesAgain(def)) ||
         isCheap(value, target);
}

/// The restore of a value, which is saved for that if nobody did; it stands
/// before `reader`.
Value Recomputer::restored(Value value, Operation *reader) {
  int64_t layer = tfm::layerOf(reader);
  tfm::SaveOp &save = kept[{value, layer}];
  if (!save)
    save = saveIn(b, value, layer);
  for (Operation *user : save->getUsers())
    if (auto restore = dyn_cast<tfm::RestoreOp>(user)) {
      if (!restore->isBeforeInBlock(reader))
        restore->moveBefore(reader);
      return restore;
    }
  return restoreBefore(b, save, reader);
}

FailureOr<Value> Recomputer::copied(Value value, Operation *reader) {
  Operation *def = value.getDefiningOp();
  auto id = def->getAttrOfType<IntegerAttr>(tfm::idAttr);
  if (!id)
    return def->emitOpError("expected ")
           << tfm::idAttr
           << ", by which what computes it again names it, found none";
  SmallVector<Value> operands;
  for (Value operand : def->getOperands()) {
    FailureOr<Value> again = inBackward(operand, reader);
    if (failed(again))
      return failure();
    operands.push_back(*again);
  }
  Operation *copy = copyBefore(b, def, operands, reader);
  copy->setAttr(tfm::recomputesAttr, id);
  for (auto [from, to] : llvm::zip(def->getResults(), copy->getResults()))
    made[{from, tfm::layerOf(reader)}] = to;
  return made.lookup({value, tfm::layerOf(reader)});
}

/// What `reader` reads in place of a value of the forward.
FailureOr<Value> Recomputer::inBackward(Value value, Operation *reader) {
  if (!isForward(value))
    return value;
  ValueInLayer key(value, tfm::layerOf(reader));
  if (Value known = made.lookup(key))
    return known;
  if (kept.contains(key) || !isCopied(value, key.second))
    return made[key] = restored(value, reader);
  return copied(value, reader);
}

LogicalResult Recomputer::replaceReads(Operation *reader) {
  for (OpOperand &operand : reader->getOpOperands()) {
    auto restore = operand.get().getDefiningOp<tfm::RestoreOp>();
    auto save = restore ? restore.getSaved().getDefiningOp<tfm::SaveOp>()
                        : tfm::SaveOp();
    if (!save || !isDropped(save))
      continue;
    FailureOr<Value> again = inBackward(save.getX(), reader);
    if (failed(again))
      return failure();
    operand.set(*again);
  }
  return success();
}

/// Whether two ops of one layer make the same.
static bool makeTheSame(Operation *one, Operation *other) {
  return one->getName() == other->getName() &&
         tfm::layerOf(one) == tfm::layerOf(other) &&
         one->getOperands() == other->getOperands() &&
         one->getResultTypes() == other->getResultTypes() &&
         one->getPropertiesAsAttribute() == other->getPropertiesAsAttribute();
}

/// What differentiate found cheap was made again before each of its readers:
/// where a copy stands earlier, readers take that.
void Recomputer::shareCopies() {
  llvm::DenseMap<int64_t, SmallVector<Operation *>> copies; ///< looked up only
  for (Operation &op : llvm::make_early_inc_range(fn.front())) {
    if (op.hasAttr(tfm::recomputesAttr))
      copies[tfm::layerOf(&op)].push_back(&op);
    else if (tfm::isBackward(&op) && op.hasTrait<tfm::Cheap>())
      for (Operation *copy : copies.lookup(tfm::layerOf(&op)))
        if (makeTheSame(copy, &op)) {
          op.replaceAllUsesWith(copy);
          op.erase();
          break;
        }
  }
}

/// Erases saves and restores that nobody reads any more.
void Recomputer::eraseUnread() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(fn.front())))
    if (isa<tfm::SaveOp, tfm::RestoreOp>(op) && op.use_empty())
      op.erase();
}

LogicalResult Recomputer::run() {
  findSaves();
  SmallVector<Operation *> readers;
  for (Operation &op : fn.front().without_terminator())
    if (tfm::isBackward(&op) && !isa<tfm::RestoreOp>(op))
      readers.push_back(&op);
  for (Operation *reader : readers)
    if (failed(replaceReads(reader)))
      return failure();
  shareCopies();
  eraseUnread();
  return success();
}

struct PlanRecomputePass
    : mtc::passes::FamilyPass<
          passes::impl::PlanRecomputeBase<PlanRecomputePass>> {
  LogicalResult run() {
    FailureOr<ConfigAttr> config = configOf(getOperation());
    if (failed(config))
      return failure();
    auto functions = mtc::passes::microbatchesOf(getOperation());
    if (failed(functions))
      return failure();
    if (!config->getRecompute())
      return success();
    func::FuncOp fn = functions->front();
    if (config->microbatchesComputedAgain() > 0)
      fn = secondOf(fn);
    auto policy = Recomputation::make(fn, config->getRecompute());
    return failed(policy) ? failure()
                          : Recomputer(fn, *policy, config->getTarget()).run();
  }

  /// The function of the microbatches that are computed again, where it begins
  /// as that of all.
  static func::FuncOp secondOf(func::FuncOp fn) {
    func::FuncOp second = fn.clone();
    second.setSymName(mtc::passes::recomputedName);
    OpBuilder b(fn->getContext());
    b.setInsertionPointAfter(fn);
    b.insert(second);
    return second;
  }

  void runPhase() override {
    if (failed(run()))
      signalPassFailure();
  }
};

} // namespace
