//===- CutStages.cpp - --cut-stages ---------------------------------------===//
//
// Establishes: @microbatch and @eval are gone; each virtual stage has fragments
// whose boundary is explicit (pipe.received, pipe.send, pipe.save, ...), and
// pipe.crossing says what crosses from one to another.
//
//===----------------------------------------------------------------------===//
#include "dialects/dist/Dist.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/tfm/Tfm.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/microbatch.h"
#include "passes/pipeline/crossings.h"

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

/// A virtual stage, and the phase and form that a fragment of it is for.
struct Part {
  int64_t virtualStage;
  int64_t stage, chunk;
  Kind kind;
  pipe::Form form;
};

/// Builds one fragment, where `b` stands, by cloning its ops out of @microbatch
/// or @eval.
class FragmentBuilder {
public:
  FragmentBuilder(func::FuncOp source, const pipeline::LayerMap &layers,
                  const pipeline::ValueCrossings &crossings, Part part,
                  std::map<Operation *, int64_t> &keys, OpBuilder b)
      : source(source), layers(layers), crossings(crossings), part(part),
        keys(keys), b(b) {}
  /// `ops` are those of the source that belong here, in order.
  LogicalResult build(ArrayRef<Operation *> ops);

private:
  LogicalResult clone(Operation *op);
  FailureOr<Value> map(Value v, Operation *user);
  FailureOr<Value> argument(BlockArgument arg);
  FailureOr<Value> received(Value v, Operation *user);
  LogicalResult save(tfm::SaveOp op);
  FailureOr<Value> restore(tfm::RestoreOp op);
  void sendIfCrossing(Value v);
  LogicalResult finishResults(Operation *op);

  func::FuncOp source;
  const pipeline::LayerMap &layers;
  const pipeline::ValueCrossings &crossings; ///< of `source`
  Part part;
  std::map<Operation *, int64_t> &keys; ///< save op -> key (looked up only)
  OpBuilder b;
  IRMapping mapping;
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
  std::optional<CrossingName> name = crossings.find(v, part.virtualStage);
  if (!name)
    return user->emitOpError("expected only tfm.restore to read what tfm.save "
                             "makes, found another op");
  return lyingAs(v,
                 pipe::ReceivedOp::create(b, v.getLoc(), v.getType(), *name));
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
  pipe::SaveOp::create(b, op.getLoc(), *value, b.getI64IntegerAttr(key));
  return success();
}

FailureOr<Value> FragmentBuilder::restore(tfm::RestoreOp op) {
  auto save = op.getSaved().getDefiningOp<tfm::SaveOp>();
  if (!save)
    return op.emitOpError("expected a tfm.save as operand");
  if (auto arg = dyn_cast<BlockArgument>(save.getX()))
    return map(arg, op);
  bool isOwn = layers.of(save) == part.virtualStage;
  std::optional<CrossingName> name =
      crossings.find(save.getX(), part.virtualStage);
  auto it = keys.find(save);
  if (!isOwn || (it == keys.end() && !name))
    return op.emitOpError("expected a value that the forward of virtual stage ")
           << part.virtualStage << " saves or receives, found another";
  if (it != keys.end())
    return lyingAs(save.getX(),
                   pipe::SavedOp::create(b, op.getLoc(), op.getType(),
                                         b.getI64IntegerAttr(it->second)));
  return lyingAs(save.getX(),
                 pipe::ReceivedOp::create(b, op.getLoc(), op.getType(), *name));
}

/// Sends a value to the virtual stages that read it.
void FragmentBuilder::sendIfCrossing(Value v) {
  for (CrossingName name : crossings.namesOf(v))
    pipe::SendOp::create(b, v.getLoc(), name, mapping.lookup(v));
}

/// Results of @microbatch become accumulations: loss, and gradients per use.
LogicalResult FragmentBuilder::finishResults(Operation *op) {
  Operation *ret = source.getBody().front().getTerminator();
  SmallVector<unsigned> numbers;
  for (OpOperand &use : op->getUses())
    if (use.getOwner() == ret)
      numbers.push_back(use.getOperandNumber());
  llvm::sort(numbers);
  for (unsigned i : numbers) {
    Value value = mapping.lookup(ret->getOperand(i));
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
    return save(saved);
  if (auto restored = dyn_cast<tfm::RestoreOp>(op)) {
    FailureOr<Value> value = restore(restored);
    if (failed(value))
      return failure();
    mapping.map(op->getResult(0), *value);
    sendIfCrossing(op->getResult(0));
    return success();
  }
  for (Value operand : op->getOperands())
    if (failed(map(operand, op)))
      return failure();
  if (auto exported = dyn_cast<tfm::ExportOp>(op)) {
    auto made = pipe::ExportOp::create(b, op->getLoc(), exported.getNameAttr(),
                                       mapping.lookup(exported.getX()));
    if (auto s = dist::shardingOf(exported.getX()))
      made->setAttr(dist::shardingAttrName, s);
    return success();
  }
  b.clone(*op, mapping);
  for (Value result : op->getResults())
    sendIfCrossing(result);
  return finishResults(op);
}

LogicalResult FragmentBuilder::build(ArrayRef<Operation *> ops) {
  std::string chunk =
      layers.shape().chunks == 1 ? "" : "_chunk" + std::to_string(part.chunk);
  auto of =
      pipe::FragmentAttr::get(b.getContext(), part.stage, part.chunk, part.kind)
          .with(part.form);
  std::string name = "stage" + std::to_string(part.stage) + chunk +
                     suffix(part.kind).str() + of.formSuffix();
  auto fn = func::FuncOp::create(b, NameLoc::get(b.getStringAttr(name)), name,
                                 b.getFunctionType({}, {}));
  fn->setAttr(pipe::FragmentAttr::attrName, of);
  b.setInsertionPointToStart(fn.addEntryBlock());
  for (Operation *op : ops)
    if (failed(clone(op)))
      return failure();
  func::ReturnOp::create(b, fn.getLoc());
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
                                  tfm::usesOf(fn, arg.getArgNumber()),
                                  cast<RankedTensorType>(arg.getType()));
    if (Attribute layer = fn.getArgAttr(arg.getArgNumber(), tfm::layerAttr))
      op->setAttr(tfm::layerAttr, layer);
    if (failed(op.verify()))
      return failure();
  }
  return success();
}

constexpr StringLiteral evalName = "eval";

struct CutStagesPass
    : mtc::passes::PhasePass<passes::impl::CutStagesBase<CutStagesPass>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<pipe::PipeDialect>();
  }
  /// A function that is cut.
  struct Source {
    func::FuncOp fn;
    pipeline::ValueCrossings crossings;
    pipe::Form form;         ///< of its fragments
    std::vector<Kind> kinds; ///< that it has
    /// By virtual stage, and whether they are of the backward.
    std::map<std::pair<int64_t, bool>, std::vector<Operation *>> ops;

    ArrayRef<Operation *> opsOf(const Part &part) const {
      auto found = ops.find({part.virtualStage, part.kind == Kind::Backward});
      return found == ops.end() ? ArrayRef<Operation *>()
                                : ArrayRef<Operation *>(found->second);
    }
  };

  /// The fragments of a stage. Keys of saved values are the stage's.
  LogicalResult cut(ArrayRef<Source> sources, const pipeline::LayerMap &layers,
                    int stage) {
    std::map<Operation *, int64_t> keys;
    for (int chunk = 0; chunk < layers.shape().chunks; ++chunk)
      for (const Source &source : sources)
        for (Kind kind : source.kinds) {
          Part part{layers.shape().virtualStage(stage, chunk), stage, chunk,
                    kind, source.form};
          if (failed(FragmentBuilder(source.fn, layers, source.crossings, part,
                                     keys, OpBuilder(sources.front().fn))
                         .build(source.opsOf(part))))
            return failure();
        }
    return success();
  }

  /// Reads what crosses in `fn`, whose ops are on virtual stages.
  FailureOr<Source> sourceOf(func::FuncOp fn,
                             const pipeline::LayerMap &layers) {
    if (failed(checkLayers(fn, layers)) || failed(checkResults(fn)))
      return failure();
    bool isEval = fn.getSymName() == evalName;
    if (!isEval && failed(tfm::checkUses(fn)))
      return failure();
    auto crossings = pipeline::ValueCrossings::make(fn, layers);
    if (failed(crossings))
      return failure();
    std::vector<Kind> kinds = isEval
                                  ? std::vector{Kind::Eval}
                                  : std::vector{Kind::Forward, Kind::Backward};
    Source source{fn,
                  std::move(*crossings),
                  fn.getSymName() == mtc::passes::recomputedName
                      ? pipe::Form::Recompute
                      : pipe::Form::Plain,
                  std::move(kinds),
                  {}};
    for (Operation &op : fn.getBody().front().without_terminator())
      source.ops[{layers.of(&op), tfm::isBackward(&op)}].push_back(&op);
    return source;
  }

  /// A parameter or an input is one thing in all functions: `fn` has the
  /// arguments of `first`, whose parameters writeParameters records.
  LogicalResult checkArguments(func::FuncOp fn, func::FuncOp first) {
    unsigned count = first.getNumArguments();
    if (fn.getNumArguments() != count)
      return fn.emitOpError("expected the arguments of @")
             << first.getSymName() << ", which has " << count << ", found "
             << fn.getNumArguments();
    for (unsigned i = 0; i < count; ++i) {
      if (fn.getArgument(i).getType() == first.getArgument(i).getType() &&
          fn.getArgAttrDict(i) == first.getArgAttrDict(i))
        continue;
      auto diag = fn.emitOpError("expected the type and attributes that "
                                 "argument ")
                  << i << " of @" << first.getSymName() << " has, found others";
      diag.attachNote(first.getArgument(i).getLoc()) << "which is this one";
      return diag;
    }
    return success();
  }

  /// What is cut: the functions of a microbatch, and @eval behind them.
  FailureOr<SmallVector<func::FuncOp>> functions() {
    auto found = mtc::passes::microbatchesOf(getOperation());
    if (failed(found))
      return failure();
    auto eval = getOperation().lookupSymbol<func::FuncOp>(evalName);
    if (!eval || eval.isExternal())
      return getOperation().emitError("expected a function @")
             << evalName << " with a body";
    found->push_back(eval);
    for (func::FuncOp fn : *found)
      if (failed(checkArguments(fn, found->front())))
        return failure();
    return found;
  }

  FailureOr<SmallVector<Source>> sourcesOf(ArrayRef<func::FuncOp> functions,
                                           const pipeline::LayerMap &layers) {
    SmallVector<Source> found;
    for (func::FuncOp fn : functions) {
      FailureOr<Source> source = sourceOf(fn, layers);
      if (failed(source))
        return failure();
      if (fn.getSymName() == mtc::passes::recomputedName &&
          !source->crossings.isLike(found.front().crossings))
        return fn.emitOpError("expected stages to send each other the values "
                              "of @")
               << mtc::passes::microbatchName << ", found others";
      found.push_back(std::move(*source));
    }
    return found;
  }

  /// Fragments take results where they are made.
  LogicalResult checkResults(func::FuncOp fn) {
    Operation *end = fn.front().getTerminator();
    for (auto [i, result] : llvm::enumerate(end->getOperands()))
      if (Operation *def = result.getDefiningOp();
          !def || isa<tfm::SaveOp, tfm::RestoreOp>(def))
        return end->emitOpError("expected results that ops make, found result ")
               << i << " to be an argument, saved or restored";
    return success();
  }

  LogicalResult checkLayers(func::FuncOp fn, const pipeline::LayerMap &layers) {
    for (Operation &op : fn.front().without_terminator())
      if (layers.of(&op) < 0)
        return op.emitOpError("expected a layer that a stage holds");
    return success();
  }

  LogicalResult run() {
    FailureOr<SmallVector<func::FuncOp>> toCut = functions();
    if (failed(toCut))
      return failure();
    FailureOr<pipeline::LayerMap> layers =
        pipeline::LayerMap::make(getOperation());
    if (failed(layers))
      return failure();
    FailureOr<SmallVector<Source>> all = sourcesOf(*toCut, *layers);
    if (failed(all))
      return failure();
    Source &train = all->front(), &eval = all->back();
    OpBuilder b(train.fn);
    train.crossings.write(b, "train");
    eval.crossings.write(b, "eval");
    for (int stage = 0; stage < layers->shape().stages; ++stage)
      if (failed(cut(*all, *layers, stage)))
        return failure();
    if (failed(writeParameters(train.fn)))
      return failure();
    for (Source &source : *all)
      source.fn.erase();
    return success();
  }

  void runPhase() override {
    if (failed(run()))
      signalPassFailure();
  }
};

} // namespace
