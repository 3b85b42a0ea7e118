//===- evaluate.cpp - all ranks through a function, op by op --------------===//
#include "test/evaluator/evaluate.h"

#include "test/evaluator/ops.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace mtc::eval {

static const Handlers &handlers() {
  static const Handlers all = [] {
    Handlers h;
    addPointwise(h);
    addOptimizers(h);
    addShape(h);
    addEinsum(h);
    addLookup(h);
    addNorm(h);
    addRandom(h);
    addAttention(h);
    addStructure(h);
    return h;
  }();
  return all;
}

static StringRef indexAxis(Operation *op) {
  auto axis = op->getAttrOfType<StringAttr>("dist.index_axis");
  return axis ? axis.getValue() : StringRef("tp");
}

int64_t Call::indexParts() const {
  return op->hasAttr("dist.index_stride") ? mesh.sizeOf(indexAxis(op)) : 1;
}
int64_t Call::indexCoordinate() const {
  return mesh.coordinate(rank, indexAxis(op));
}
int64_t Call::indexOffset() const {
  auto stride = op->getAttrOfType<IntegerAttr>("dist.index_stride");
  return stride ? stride.getInt() * indexCoordinate() : 0;
}

int64_t Call::globalPosition(int64_t local) const {
  return fromPieces(local + indexOffset());
}
int64_t Call::fromPieces(int64_t index) const {
  auto axis = op->getAttrOfType<StringAttr>("dist.piece_axis");
  if (!axis)
    return index;
  int64_t piece = op->getAttrOfType<IntegerAttr>("dist.piece").getInt();
  int64_t number = mesh.coordinate(rank, axis), fromStart = index % piece;
  if (index >= piece) // pieces from the end
    number = 2 * mesh.sizeOf(axis) - 1 - number;
  return number * piece + fromStart;
}
int64_t Call::pieceParts() const {
  auto axis = op->getAttrOfType<StringAttr>("dist.piece_axis");
  return axis ? mesh.sizeOf(axis) : 1;
}

namespace {

class Evaluator {
public:
  Evaluator(const Mesh &mesh, const StepBlock &step) : mesh(mesh), step(step) {}
  FailureOr<Outcome> run(func::FuncOp fn, const std::vector<Ranks> &arguments);

private:
  LogicalResult set(Location loc, Value value, const Ranks &ranks);
  LogicalResult visit(Operation *op);
  LogicalResult local(Operation *op);

  const Mesh &mesh;
  const StepBlock &step;
  llvm::DenseMap<Value, Ranks> values; ///< looked up only
  Outcome outcome;
};

/// Records a value after checking it against its type.
LogicalResult Evaluator::set(Location loc, Value value, const Ranks &ranks) {
  if (static_cast<int64_t>(ranks.size()) != mesh.ranks())
    return emitError(loc, "expected a tensor on each of ")
           << mesh.ranks() << " ranks, found " << ranks.size();
  auto type = cast<RankedTensorType>(value.getType());
  Shape shape = shapeOf(type);
  for (const Tensor &x : ranks) {
    bool isInteger = type.getElementType().isInteger();
    size_t held = isInteger ? x.ints.size() : x.reals.size();
    if (x.shape != shape || static_cast<int64_t>(held) != count(shape))
      return emitError(loc, "expected a tensor of type ")
             << type << ", found " << held
             << " elements of its kind and another shape or count";
  }
  values[value] = ranks;
  return success();
}

LogicalResult Evaluator::local(Operation *op) {
  auto it = handlers().find(op->getName().getStringRef().str());
  if (it == handlers().end())
    return op->emitOpError("is not known to the evaluator");
  std::vector<Ranks> results(op->getNumResults());
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    Call call{op, mesh, step, rank, {}, {}};
    for (Value operand : op->getOperands())
      call.in.push_back(&values.find(operand)->second[rank]);
    for (Type type : op->getResultTypes())
      call.out.push_back(Tensor::zeros(shapeOf(type)));
    if (failed(it->second(call)))
      return failure();
    for (size_t i = 0; i < results.size(); ++i)
      results[i].push_back(std::move(call.out[i]));
  }
  for (auto [result, ranks] : llvm::zip(op->getResults(), results))
    if (failed(set(op->getLoc(), result, ranks)))
      return failure();
  return success();
}

LogicalResult Evaluator::visit(Operation *op) {
  if (auto exported = dyn_cast<tfm::ExportOp>(op)) {
    outcome.exported[exported.getName().str()] = values[exported.getX()];
    return success();
  }
  if (!isCollective(op))
    return local(op);
  FailureOr<Ranks> result = collective(op, mesh, values[op->getOperand(0)]);
  if (failed(result))
    return failure();
  return set(op->getLoc(), op->getResult(0), *result);
}

FailureOr<Outcome> Evaluator::run(func::FuncOp fn,
                                  const std::vector<Ranks> &arguments) {
  if (arguments.size() != fn.getNumArguments())
    return fn.emitOpError("expected ")
           << fn.getNumArguments() << " arguments, found " << arguments.size();
  for (auto [argument, ranks] : llvm::zip(fn.getArguments(), arguments))
    if (failed(set(fn.getLoc(), argument, ranks)))
      return failure();
  Block &body = fn.getBody().front();
  for (Operation &op : body.without_terminator())
    if (failed(visit(&op)))
      return failure();
  for (Value result : body.getTerminator()->getOperands())
    outcome.results.push_back(values[result]);
  return std::move(outcome);
}

} // namespace

FailureOr<Outcome> evaluateFunction(func::FuncOp fn, const Mesh &mesh,
                                    const std::vector<Ranks> &arguments,
                                    const StepBlock &step) {
  return Evaluator(mesh, step).run(fn, arguments);
}

FailureOr<std::vector<Tensor>>
evaluateUnsharded(func::FuncOp fn, const std::vector<Tensor> &arguments,
                  const StepBlock &step) {
  std::vector<Ranks> single;
  for (const Tensor &x : arguments)
    single.push_back({x});
  FailureOr<Outcome> outcome = evaluateFunction(fn, Mesh(), single, step);
  if (failed(outcome))
    return failure();
  std::vector<Tensor> results;
  for (Ranks &ranks : outcome->results)
    results.push_back(std::move(ranks.front()));
  return results;
}

} // namespace mtc::eval
