//===- Differentiate.cpp - --differentiate --------------------------------===//
//
// Establishes: @microbatch holds forward and backward; one gradient per use of
// each parameter is returned after the loss; the backward reads forward values
// only through tfm.restore or computes cheap ones again.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tables.h"
#include "dialects/mtc/Mtc.h"
#include "dialects/tfm/Tfm.h"
#include "passes/Passes.h"
#include "passes/families/FamilyPass.h"
#include "passes/families/family.h"
#include "passes/model/saves.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace mtc::passes {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;

namespace {

/// A cotangent and the layer of the op that it comes from.
struct Contribution {
  Value value;
  int64_t layer;
};

/// One use of a parameter: where in the forward, and its gradient.
struct ParamUse {
  int64_t order;
  Value gradient;
};

class Differentiator {
public:
  /// Gradients of parameters have the policy's type of gradients.
  Differentiator(func::FuncOp fn, const DtypePolicy &types)
      : fn(fn), b(fn.getContext()), accumulatorType(types.gradient),
        scalesLoss(types.scalesLoss) {}
  LogicalResult run();

private:
  void findDependents();
  LogicalResult backward(Operation *op);
  Value total(Value forward);
  void contribute(Value forward, Value cotangent, Operation *consumer);
  void markNew(Operation *after, int64_t layer);
  void setPrimal(Value cotangent, Value forward);
  void removeGradientMarks();
  void eraseDead();
  bool widen(Value sum, unsigned readers);
  Value accumulated(Value gradient, Value param);
  void returnGradients();
  Value seedOf(Value loss);

  func::FuncOp fn;
  OpBuilder b;
  Type accumulatorType;
  bool scalesLoss;
  SmallVector<Operation *> forwardOps;
  llvm::DenseSet<Value> dependents; ///< depend on a parameter (looked up only)
  llvm::DenseMap<Value, SmallVector<Contribution>>
      cotangents;                             ///< looked up only
  llvm::DenseMap<Operation *, int64_t> order; ///< looked up only
  llvm::MapVector<Value, SmallVector<ParamUse>> uses;
};

bool isParam(func::FuncOp fn, Value v) {
  auto arg = dyn_cast<BlockArgument>(v);
  return arg && fn.getArgAttr(arg.getArgNumber(), "tfm.param");
}

void Differentiator::findDependents() {
  for (BlockArgument arg : fn.getArguments())
    if (isParam(fn, arg))
      dependents.insert(arg);
  for (Operation *op : forwardOps) {
    if (isa<tfm::StopGradientOp>(op))
      continue;
    if (llvm::any_of(op->getOperands(),
                     [&](Value v) { return dependents.contains(v); }))
      dependents.insert(op->result_begin(), op->result_end());
  }
}

/// Gives the ops made after `after` their phase and layer.
void Differentiator::markNew(Operation *after, int64_t layer) {
  for (Operation *op = after->getNextNode(); op; op = op->getNextNode()) {
    if (isa<func::ReturnOp>(op))
      break;
    op->setAttr(tfm::layerAttr, b.getI64IntegerAttr(layer));
    op->setAttr(tfm::phaseAttr, b.getStringAttr("backward"));
    op->removeAttr(tfm::idAttr);
  }
}

/// Records which forward value a cotangent belongs to: its sharding follows it.
void Differentiator::setPrimal(Value cotangent, Value forward) {
  auto result = dyn_cast<OpResult>(cotangent);
  if (!result)
    return;
  Operation *op = result.getOwner();
  SmallVector<Attribute> all(op->getNumResults(), b.getDenseI64ArrayAttr({}));
  if (auto old = op->getAttrOfType<ArrayAttr>("tfm.primal"))
    all.assign(old.begin(), old.end());
  if (!cast<DenseI64ArrayAttr>(all[result.getResultNumber()]).empty())
    return;
  int64_t id = -1, index;
  if (auto arg = dyn_cast<BlockArgument>(forward)) {
    index = arg.getArgNumber();
  } else {
    auto producer = cast<OpResult>(forward);
    id = producer.getOwner()->getAttrOfType<IntegerAttr>(tfm::idAttr).getInt();
    index = producer.getResultNumber();
  }
  all[result.getResultNumber()] = b.getDenseI64ArrayAttr({id, index});
  op->setAttr("tfm.primal", b.getArrayAttr(all));
}

void Differentiator::contribute(Value forward, Value cotangent,
                                Operation *consumer) {
  setPrimal(cotangent, forward);
  if (isParam(fn, forward))
    uses[forward].push_back({order.lookup(consumer), cotangent});
  else
    cotangents[forward].push_back({cotangent, tfm::layerOf(consumer)});
}

/// The sum of a value's cotangents, made in the layer of its consumers: so only
/// one tensor crosses between layers.
Value Differentiator::total(Value forward) {
  auto it = cotangents.find(forward);
  if (it == cotangents.end())
    return {};
  if (it->second.size() == 1)
    return it->second.front().value;
  SmallVector<Value> parts;
  int64_t layer = it->second.front().layer;
  for (const Contribution &c : it->second) {
    parts.push_back(c.value);
    layer = std::min(layer, c.layer);
  }
  Operation *last = b.getInsertionBlock()->getTerminator()->getPrevNode();
  Value sum = tfm::AddOp::create(b, forward.getLoc(), forward.getType(), parts);
  markNew(last, layer);
  setPrimal(sum, forward);
  return sum;
}

LogicalResult Differentiator::backward(Operation *op) {
  if (llvm::none_of(op->getResults(),
                    [&](Value v) { return dependents.contains(v); }))
    return success();
  SmallVector<Value> incoming;
  for (Value result : op->getResults())
    incoming.push_back(total(result));
  if (llvm::none_of(incoming, [](Value v) { return static_cast<bool>(v); }))
    return success();
  auto rule = dyn_cast<families::GradientOpInterface>(op);
  if (!rule) {
    auto diag = op->emitOpError("has no gradient rule");
    if (auto family = dyn_cast<families::FamilyOpInterface>(op))
      diag << ": " << family.getNoGradient();
    return diag;
  }
  Operation *last = fn.getBody().front().getTerminator()->getPrevNode();
  FailureOr<families::Values> outgoing = rule.buildGradient(b, incoming);
  if (failed(outgoing))
    return failure();
  markNew(last, tfm::layerOf(op));
  for (auto [operand, cotangent] : llvm::zip(op->getOperands(), *outgoing))
    if (cotangent && dependents.contains(operand))
      contribute(operand, cotangent, op);
  return success();
}

void Differentiator::removeGradientMarks() {
  for (Operation *op : forwardOps)
    if (isa<tfm::StopGradientOp, tfm::ScaleGradientOp>(op)) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    }
}

/// Erases backward ops without users, from the end.
void Differentiator::eraseDead() {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(fn.getBody().front())))
    if (tfm::isBackward(&op) && op.use_empty() && !isa<func::ReturnOp>(op))
      op.erase();
}

/// What a cast of a gradient that nobody else reads takes: of a parameter that
/// is cast before it is read, the gradient of what was read.
static Value beforeCast(Value gradient) {
  auto cast = gradient.getDefiningOp<tfm::CastOp>();
  return cast && gradient.use_empty() && cast.getX().hasOneUse() &&
                 tfm::isBackward(cast)
             ? cast.getX()
             : Value();
}

/// Whether `sum` could be given the accumulators' type: a sum that no more than
/// so many ops read, or what is made of such a sum alone.
bool Differentiator::widen(Value sum, unsigned readers) {
  Operation *producer = sum.getDefiningOp();
  if (!producer || sum.getNumUses() > readers)
    return false;
  bool isSum = producer->hasTrait<tfm::SumsInF32>();
  bool follows =
      producer->hasTrait<OpTrait::SameOperandsAndResultElementType>();
  if (!isSum && !(follows && widen(producer->getOperand(0), 1)))
    return false;
  sum.setType(cast<RankedTensorType>(sum.getType()).clone(accumulatorType));
  return true;
}

/// The gradient of one use in the accumulators' type: made in it where its
/// producer is a sum that nobody else reads, else cast.
Value Differentiator::accumulated(Value gradient, Value param) {
  auto type = cast<RankedTensorType>(gradient.getType());
  if (Value sum = beforeCast(gradient); sum && widen(sum, 1)) {
    gradient.getDefiningOp()->erase();
    return sum;
  }
  if (type.getElementType() == accumulatorType)
    return gradient;
  if (widen(gradient, 0))
    return gradient;
  Operation *producer = gradient.getDefiningOp();
  Operation *last = b.getInsertionBlock()->getTerminator()->getPrevNode();
  Value cast = tfm::CastOp::create(b, gradient.getLoc(),
                                   type.clone(accumulatorType), gradient);
  markNew(last, producer ? tfm::layerOf(producer) : 0);
  setPrimal(cast, param);
  return cast;
}

void Differentiator::returnGradients() {
  Block &body = fn.getBody().front();
  Operation *ret = body.getTerminator();
  SmallVector<Value> results(ret->getOperands());
  SmallVector<DictionaryAttr> attrs;
  fn.getAllResultAttrs(attrs); // before the number of results changes
  for (BlockArgument arg : fn.getArguments()) {
    auto it = uses.find(arg);
    if (it == uses.end())
      continue;
    auto param =
        fn.getArgAttrOfType<tfm::ParamAttr>(arg.getArgNumber(), "tfm.param");
    if (it->second.size() > 1)
      fn.setArgAttr(arg.getArgNumber(), tfm::usesAttr,
                    b.getI64IntegerAttr(it->second.size()));
    llvm::sort(it->second, [](auto &a, auto &c) { return a.order < c.order; });
    for (auto [use, entry] : llvm::enumerate(it->second)) {
      results.push_back(accumulated(entry.gradient, arg));
      auto grad = tfm::GradAttr::get(b.getContext(), param.getName(), use);
      attrs.push_back(b.getDictionaryAttr(b.getNamedAttr("tfm.grad", grad)));
    }
  }
  ret->setOperands(results);
  fn.setFunctionType(b.getFunctionType(body.getArgumentTypes(),
                                       ValueRange(results).getTypes()));
  fn.setAllResultAttrs(attrs);
}

/// The cotangent of the loss.
Value Differentiator::seedOf(Value loss) {
  if (scalesLoss)
    return tfm::ScalarOp::create(
        b, loss.getLoc(), loss.getType(),
        b.getStringAttr(kStepFields[STEP_LOSS_SCALE].name));
  return tfm::FillOp::create(b, loss.getLoc(), loss.getType(),
                             b.getF64FloatAttr(1.0));
}

LogicalResult Differentiator::run() {
  Block &body = fn.getBody().front();
  for (Operation &op : body.without_terminator()) {
    order[&op] = forwardOps.size();
    forwardOps.push_back(&op);
  }
  findDependents();
  Operation *ret = body.getTerminator();
  if (ret->getNumOperands() != 1)
    return ret->emitOpError("expected one result, the loss, found ")
           << ret->getNumOperands();
  Value loss = ret->getOperand(0);
  if (!loss.getDefiningOp() || !dependents.contains(loss))
    return ret->emitOpError("expected a loss that depends on a parameter");
  b.setInsertionPoint(ret);
  Operation *last = ret->getPrevNode();
  Value seed = seedOf(loss);
  markNew(last, tfm::layerOf(loss.getDefiningOp()));
  cotangents[loss].push_back({seed, tfm::layerOf(loss.getDefiningOp())});
  for (Operation *op : llvm::reverse(forwardOps))
    if (failed(backward(op)))
      return failure();
  returnGradients();
  eraseDead();
  removeGradientMarks();
  return success();
}

//===--- saved values -----------------------------------------------------===//

/// Replaces the backward's direct reads of forward values.
class Saver {
public:
  Saver(func::FuncOp fn, TargetAttr target)
      : fn(fn), target(target), b(fn.getContext()) {}
  void run();

private:
  Value materialise(Value v, Operation *reader);

  func::FuncOp fn;
  TargetAttr target;
  OpBuilder b;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> made; ///< looked up only
};

Value Saver::materialise(Value v, Operation *reader) {
  if (!model::isForward(v))
    return v;
  auto key = std::pair(v, tfm::layerOf(reader));
  if (Value old = made.lookup(key))
    return old;
  // What another layer made may be another stage's, which has its parameters.
  bool isOwn = tfm::layerOf(v.getDefiningOp()) == tfm::layerOf(reader);
  if (!isOwn || !model::isCheap(v, target))
    return made[key] = model::restoreBefore(
               b, model::saveIn(b, v, tfm::layerOf(reader)), reader);
  Operation *def = v.getDefiningOp();
  SmallVector<Value> operands;
  for (Value operand : def->getOperands())
    operands.push_back(materialise(operand, reader));
  Operation *copy = model::copyBefore(b, def, operands, reader);
  return made[key] = copy->getResult(cast<OpResult>(v).getResultNumber());
}

void Saver::run() {
  SmallVector<Operation *> readers;
  for (Operation &op : fn.getBody().front().without_terminator())
    if (tfm::isBackward(&op))
      readers.push_back(&op);
  for (Operation *op : readers)
    for (OpOperand &operand : op->getOpOperands())
      if (model::isForward(operand.get()))
        operand.set(materialise(operand.get(), op));
}

struct DifferentiatePass
    : mtc::passes::FamilyPass<
          passes::impl::DifferentiateBase<DifferentiatePass>> {
  void runPhase() override {
    auto fn = getOperation().lookupSymbol<func::FuncOp>("microbatch");
    if (!fn) {
      getOperation().emitError("expected a function @microbatch");
      return signalPassFailure();
    }
    FailureOr<ConfigAttr> config = configOf(getOperation());
    if (failed(config) || failed(Differentiator(fn, config->types()).run()))
      return signalPassFailure();
    Saver(fn, config->getTarget()).run();
  }
};

} // namespace
