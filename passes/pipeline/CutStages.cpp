//===- CutStages.cpp - --cut-stages ---------------------------------------===//
//
// Establishes: @microbatch is gone; each stage has fragments whose boundary is
// explicit (pipe.received, pipe.send, pipe.keep, ...). One tensor crosses each
// stage boundary per direction.
//
//===----------------------------------------------------------------------===//
#include "dialects/dist/Dist.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/tfm/Tfm.h"
#include "passes/Config.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <map>

namespace mtc::passes {
#define GEN_PASS_DEF_CUTSTAGES
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;

namespace {

using Kind = pipe::Phase;

/// For people: names of fragments mean nothing.
StringRef suffix(Kind kind) {
  return kind == Kind::Forward    ? "_fwd"
         : kind == Kind::Backward ? "_bwd"
                                  : "_eval";
}

/// The stage of each layer: 0 (embedding) .. L + 1 (head).
class StageMap {
public:
  static FailureOr<StageMap> make(ModuleOp module) {
    passes::Config config(module);
    int64_t stages = config.stages(), layers = config.number("layers", 0);
    std::vector<int64_t> counts = config.numbers("layers_per_stage");
    if (counts.empty()) {
      if (layers % stages != 0)
        return module.emitError("expected layers (")
               << layers << ") to be a multiple of pp (" << stages
               << ") or an explicit layers_per_stage";
      counts.assign(stages, layers / stages);
    }
    int64_t sum = 0;
    for (int64_t c : counts)
      sum += c;
    if (static_cast<int64_t>(counts.size()) != stages || sum != layers)
      return module.emitError("expected layers_per_stage with ")
             << stages << " entries that add to " << layers << ", found "
             << counts.size() << " that add to " << sum;
    StageMap map;
    map.stages = stages;
    map.stageOfLayer.push_back(0);
    for (int64_t s = 0; s < stages; ++s)
      map.stageOfLayer.insert(map.stageOfLayer.end(), counts[s], s);
    map.stageOfLayer.push_back(stages - 1);
    return map;
  }
  int64_t of(Operation *op) const {
    int64_t layer = tfm::layerOf(op);
    return layer < 0 || layer >= static_cast<int64_t>(stageOfLayer.size())
               ? -1
               : stageOfLayer[layer];
  }
  int64_t stages = 1;

private:
  std::vector<int64_t> stageOfLayer;
};

/// Ops that passes inserted (collectives) take the layer of their operand.
void completeLayers(func::FuncOp fn) {
  for (Operation &op : fn.getBody().front().without_terminator()) {
    Operation *def =
        op.getNumOperands() ? op.getOperand(0).getDefiningOp() : nullptr;
    if (!def)
      continue;
    for (StringRef name :
         {StringRef(tfm::layerAttr), StringRef(tfm::phaseAttr)})
      if (!op.hasAttr(name) && def->hasAttr(name))
        op.setAttr(name, def->getAttr(name));
  }
}

/// Builds one fragment by cloning its ops out of @microbatch.
class FragmentBuilder {
public:
  FragmentBuilder(func::FuncOp source, const StageMap &stages, int64_t stage,
                  Kind kind, std::map<Operation *, int64_t> &keys)
      : source(source), stages(stages), stage(stage), kind(kind), keys(keys),
        b(source.getContext()) {}
  LogicalResult build();

private:
  bool belongs(Operation *op) {
    return stages.of(op) == stage &&
           tfm::isBackward(op) == (kind == Kind::Backward);
  }
  /// Of what this fragment receives and sends.
  pipe::Direction direction() const {
    return kind == Kind::Backward ? pipe::Direction::Gradient
                                  : pipe::Direction::Activation;
  }
  LogicalResult clone(Operation *op);
  FailureOr<Value> map(Value v, Operation *user);
  FailureOr<Value> argument(BlockArgument arg);
  FailureOr<Value> received(Value v, Operation *user);
  LogicalResult save(tfm::SaveOp op);
  FailureOr<Value> restore(tfm::RestoreOp op);
  LogicalResult sendIfCrossing(Value v);
  LogicalResult finishResults(Operation *op);
  int64_t stageOfUse(OpOperand &use);

  func::FuncOp source;
  const StageMap &stages;
  int64_t stage;
  Kind kind;
  std::map<Operation *, int64_t> &keys; ///< save op -> key (looked up only)
  OpBuilder b;
  IRMapping mapping;
  Value arrived; ///< the value of @microbatch that was received
  Value sent;
};

/// What `made` makes lies on the ranks as `value` does.
static Value lyingAs(Value value, Operation *made) {
  dist::copySharding(value, made->getResult(0));
  return made->getResult(0);
}

FailureOr<Value> FragmentBuilder::argument(BlockArgument arg) {
  Location loc = arg.getLoc();
  unsigned i = arg.getArgNumber();
  if (auto p = source.getArgAttrOfType<tfm::ParamAttr>(i, "tfm.param"))
    return lyingAs(arg,
                   pipe::ParamOp::create(b, loc, arg.getType(), p.getName()));
  if (auto in = source.getArgAttrOfType<tfm::InputAttr>(i, "tfm.input"))
    return lyingAs(arg,
                   pipe::InputOp::create(b, loc, arg.getType(), in.getName()));
  return pipe::SampleOp::create(b, loc, arg.getType()).getResult();
}

FailureOr<Value> FragmentBuilder::received(Value v, Operation *user) {
  Operation *def = v.getDefiningOp();
  int64_t from = stages.of(def),
          expected = kind == Kind::Backward ? stage + 1 : stage - 1;
  bool samePhase = tfm::isBackward(def) == (kind == Kind::Backward);
  if (!samePhase || from != expected)
    return user->emitOpError("expected values from stage ")
           << expected << " or this stage (" << stage
           << "), found one of stage " << from
           << (samePhase ? "" : " of the other phase");
  if (arrived && arrived != v)
    return user->emitOpError("expected one tensor to cross from stage ")
           << from << " to stage " << stage << ", found a second one";
  arrived = v;
  return lyingAs(
      v, pipe::ReceivedOp::create(b, v.getLoc(), v.getType(), direction()));
}

FailureOr<Value> FragmentBuilder::map(Value v, Operation *user) {
  if (Value known = mapping.lookupOrNull(v))
    return known;
  FailureOr<Value> made = isa<BlockArgument>(v)
                              ? argument(cast<BlockArgument>(v))
                              : received(v, user);
  if (succeeded(made))
    mapping.map(v, *made);
  return made;
}

/// A value that needs no place of its own: it is received or an input.
static bool livesElsewhere(Value saved) { return isa<BlockArgument>(saved); }

LogicalResult FragmentBuilder::save(tfm::SaveOp op) {
  FailureOr<Value> value = map(op.getX(), op);
  if (failed(value))
    return failure();
  if (livesElsewhere(op.getX()) || value->getDefiningOp<pipe::ReceivedOp>())
    return success(); // the backward reads it where it is
  int64_t key = keys.size();
  keys[op] = key;
  pipe::KeepOp::create(b, op.getLoc(), *value, b.getI64IntegerAttr(key));
  return success();
}

FailureOr<Value> FragmentBuilder::restore(tfm::RestoreOp op) {
  auto save = op.getSaved().getDefiningOp<tfm::SaveOp>();
  if (!save)
    return op.emitOpError("expected a tfm.save as operand");
  if (auto arg = dyn_cast<BlockArgument>(save.getX()))
    return map(arg, op);
  auto it = keys.find(save);
  if (it != keys.end())
    return lyingAs(save.getX(),
                   pipe::KeptOp::create(b, op.getLoc(), op.getType(),
                                        b.getI64IntegerAttr(it->second)));
  return lyingAs(save.getX(),
                 pipe::ReceivedOp::create(b, op.getLoc(), op.getType(),
                                          pipe::Direction::Activation));
}

int64_t FragmentBuilder::stageOfUse(OpOperand &use) {
  return stages.of(use.getOwner());
}

/// Sends a value that a neighbouring stage reads in the same phase.
LogicalResult FragmentBuilder::sendIfCrossing(Value v) {
  bool crosses = false;
  for (OpOperand &use : v.getUses())
    if (!isa<func::ReturnOp>(use.getOwner()) && stageOfUse(use) != stage &&
        (kind != Kind::Eval || !isa<tfm::SaveOp>(use.getOwner())))
      crosses = true;
  if (!crosses)
    return success();
  if (sent && sent != v)
    return v.getDefiningOp()->emitOpError("expected one tensor to leave stage ")
           << stage << " per direction, found a second one";
  sent = v;
  pipe::SendOp::create(b, v.getLoc(), direction(), mapping.lookup(v));
  return success();
}

/// Results of @microbatch become accumulations: loss, and gradients per use.
LogicalResult FragmentBuilder::finishResults(Operation *op) {
  Operation *ret = source.getBody().front().getTerminator();
  for (OpOperand &result : ret->getOpOperands()) {
    if (result.get().getDefiningOp() != op)
      continue;
    unsigned i = result.getOperandNumber();
    Value value = mapping.lookup(result.get());
    if (auto grad = source.getResultAttrOfType<tfm::GradAttr>(i, "tfm.grad"))
      pipe::AccumulateOp::create(b, op->getLoc(), value, grad.getParam(),
                                 b.getI64IntegerAttr(grad.getUse()))
          ->setAttr(tfm::layerAttr, op->getAttr(tfm::layerAttr));
    else
      pipe::LossOp::create(b, op->getLoc(), value)
          ->setAttr(tfm::layerAttr, op->getAttr(tfm::layerAttr));
  }
  return success();
}

LogicalResult FragmentBuilder::clone(Operation *op) {
  if (auto saved = dyn_cast<tfm::SaveOp>(op))
    return kind == Kind::Eval ? success() : save(saved);
  if (isa<tfm::ExportOp>(op) && kind != Kind::Eval)
    return success();
  if (auto restored = dyn_cast<tfm::RestoreOp>(op)) {
    FailureOr<Value> value = restore(restored);
    if (failed(value))
      return failure();
    mapping.map(op->getResult(0), *value);
    return success();
  }
  for (Value operand : op->getOperands())
    if (failed(map(operand, op)))
      return failure();
  if (kind == Kind::Eval && isa<tfm::DropoutOp>(op)) {
    mapping.map(op->getResult(0), mapping.lookup(op->getOperand(0)));
    return sendIfCrossing(op->getResult(0));
  }
  if (auto exported = dyn_cast<tfm::ExportOp>(op)) {
    auto made = pipe::ExportOp::create(b, op->getLoc(), exported.getNameAttr(),
                                       mapping.lookup(exported.getX()));
    if (auto s = dist::shardingOf(exported.getX()))
      made->setAttr(dist::shardingAttrName, s);
    return success();
  }
  Operation *copy = b.clone(*op, mapping);
  if (auto attention = dyn_cast<tfm::AttentionOp>(copy);
      attention && kind == Kind::Eval)
    attention.setRate(APFloat(0.0));
  for (Value result : op->getResults())
    if (failed(sendIfCrossing(result)))
      return failure();
  return finishResults(op);
}

LogicalResult FragmentBuilder::build() {
  b.setInsertionPoint(source);
  std::string name = "stage" + std::to_string(stage) + suffix(kind).str();
  auto fn =
      func::FuncOp::create(b, source.getLoc(), name, b.getFunctionType({}, {}));
  fn->setAttr(
      pipe::FragmentAttr::attrName,
      pipe::FragmentAttr::get(b.getContext(), stage, /*chunk=*/0, kind));
  b.setInsertionPointToStart(fn.addEntryBlock());
  for (Operation &op : source.getBody().front().without_terminator())
    if (belongs(&op) && failed(clone(&op)))
      return failure();
  func::ReturnOp::create(b, source.getLoc());
  return success();
}

/// Writes a pipe.parameter for each parameter, in model order.
LogicalResult writeParameters(func::FuncOp fn) {
  OpBuilder b(fn);
  for (BlockArgument arg : fn.getArguments()) {
    auto param =
        fn.getArgAttrOfType<tfm::ParamAttr>(arg.getArgNumber(), "tfm.param");
    if (!param)
      continue;
    auto op =
        pipe::ParameterOp::create(b, arg.getLoc(), param, dist::shardingOf(arg),
                                  cast<RankedTensorType>(arg.getType()));
    if (failed(op.verify()))
      return failure();
  }
  return success();
}

struct CutStagesPass
    : mtc::passes::PhasePass<passes::impl::CutStagesBase<CutStagesPass>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<pipe::PipeDialect>();
  }
  void runPhase() override {
    ModuleOp module = getOperation();
    auto fn = module.lookupSymbol<func::FuncOp>("microbatch");
    if (!fn) {
      module.emitError("expected a function @microbatch");
      return signalPassFailure();
    }
    completeLayers(fn);
    FailureOr<StageMap> stages = StageMap::make(module);
    if (failed(stages))
      return signalPassFailure();
    for (Operation &op : fn.getBody().front().without_terminator())
      if (stages->of(&op) < 0) {
        op.emitOpError("expected a layer that a stage holds");
        return signalPassFailure();
      }
    for (int64_t stage = 0; stage < stages->stages; ++stage) {
      std::map<Operation *, int64_t> keys;
      for (Kind kind : {Kind::Forward, Kind::Backward, Kind::Eval})
        if (failed(FragmentBuilder(fn, *stages, stage, kind, keys).build()))
          return signalPassFailure();
    }
    if (failed(writeParameters(fn)))
      return signalPassFailure();
    fn.erase();
  }
};

} // namespace
