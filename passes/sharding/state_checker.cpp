//===- state_checker.cpp - shardings of local types, op by op -------------===//
#include "passes/sharding/state_checker.h"

#include "passes/sharding/index_use.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace mtc::sharding {

void StateChecker::addInput(Value input) {
  for (auto [a, state] : llvm::enumerate(states(input)))
    if (state >= 0)
      isData[a] = true;
}

std::string StateChecker::checkState(size_t axis, State found,
                                     State expected) const {
  if (found == expected)
    return "";
  return "to be " + describe(expected) + " over \"" +
         mesh.getAxes()[axis].str() + "\"" +
         (expected == kPartial ? ", which the update sums over" : "") +
         ", found " + describe(found);
}

std::string StateChecker::checkLoss(const std::vector<State> &found) const {
  std::string problem;
  for (size_t a = 0; a < found.size() && problem.empty(); ++a)
    problem = checkState(a, found[a], isData[a] ? kPartial : kReplicated);
  return problem;
}

std::string
StateChecker::checkGradient(const std::vector<State> &found,
                            const std::vector<State> &parameter) const {
  std::string problem;
  for (size_t a = 0; a < found.size() && problem.empty(); ++a) {
    bool isWhole = parameter[a] == kReplicated;
    if (!isWhole || found[a] != kPartial)
      problem = checkState(a, found[a], parameter[a]);
  }
  return problem;
}

std::set<std::string>
StateChecker::partialAxes(const std::vector<State> &states) const {
  std::set<std::string> axes;
  for (auto [a, axis] : llvm::enumerate(mesh.getAxes()))
    if (states[a] == kPartial)
      axes.insert(axis.str());
  return axes;
}

LogicalResult StateChecker::checkLocal(Operation *op, Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  DenseI64ArrayAttr global = dist::globalShapeOf(value);
  if (!global || global.size() != type.getRank())
    return op->emitOpError("expected the global shape of a value of type ")
           << type << "; run --partition first";
  SmallVector<int64_t> whole(type.getShape());
  for (auto [a, state] : llvm::enumerate(states(value)))
    if (state >= 0)
      whole[state] *= mesh.getSizes()[a];
  if (ArrayRef(whole) == global.asArrayRef())
    return success();
  auto diag = op->emitOpError("expected ")
              << type << " to be a part of global shape [";
  llvm::interleaveComma(global.asArrayRef(), diag);
  diag << "] under " << dist::shardingOf(value) << ", found a part of [";
  llvm::interleaveComma(whole, diag);
  return diag << "]";
}

LogicalResult StateChecker::checkOp(Operation *op) const {
  if (isa<dist::ReshardOp>(op))
    return op->emitOpError("expected no reshard after --partition");
  for (Value result : op->getResults()) {
    if (!dist::shardingOf(result))
      return op->emitOpError("expected ") << dist::shardingsAttrName;
    if (failed(checkLocal(op, result)))
      return failure();
  }
  if (op->getDialect() && isa<dist::DistDialect>(op->getDialect()))
    return checkCollective(op);
  if (failed(checkRule(op)))
    return failure();
  return checkIndexUse(op);
}

LogicalResult StateChecker::checkRule(Operation *op) const {
  FailureOr<Rule> rule = ruleOf(op);
  if (failed(rule))
    return failure();
  for (auto [a, axis] : llvm::enumerate(mesh.getAxes())) {
    std::vector<State> operands, results;
    for (Value v : op->getOperands())
      operands.push_back(states(v)[a]);
    for (Value v : op->getResults())
      results.push_back(states(v)[a]);
    std::string problem = checkStates(*rule, operands, results);
    if (!problem.empty())
      return op->emitOpError(problem) << " over " << axis;
  }
  return success();
}

/// The dimension beside it, of ops whose elements are numbered.
static std::string alsoDim(StringRef name, int64_t dim) {
  return dim < 0 ? "" : llvm::formatv(" and {0} = {1}", name, dim).str();
}

LogicalResult StateChecker::checkIndexUse(Operation *op) const {
  FailureOr<IndexUse> use = indexUseOf(op, mesh);
  if (failed(use))
    return failure();
  IndexUse found = IndexUse::readFrom(op);
  if (found.axis != use->axis || found.stride != use->stride ||
      found.dim != use->dim) {
    if (use->axis.empty())
      return op->emitOpError("expected no dist.index_axis: no "
                             "indexed dimension is split");
    return op->emitOpError("expected dist.index_axis = \"")
           << use->axis << "\" and dist.index_stride = " << use->stride
           << alsoDim("dist.index_dim", use->dim)
           << ": local indices need the rank's offset";
  }
  if (found.pieceAxis == use->pieceAxis && found.piece == use->piece &&
      found.pieceDim == use->pieceDim)
    return success();
  if (use->pieceAxis.empty())
    return op->emitOpError("expected no dist.piece_axis: no indexed dimension "
                           "is split in a head and a tail");
  return op->emitOpError("expected dist.piece_axis = \"")
         << use->pieceAxis << "\" and dist.piece = " << use->piece
         << alsoDim("dist.piece_dim", use->pieceDim)
         << ": local indices need the offset of the rank's piece";
}

//===--- collectives ------------------------------------------------------===//

static void expectedStates(Operation *op, State &before, State &after) {
  if (auto reduce = dyn_cast<dist::AllReduceOp>(op))
    before = reduce.getKind() == dist::ReduceKind::Max ? kMax : kPartial;
  if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op)) {
    before = kPartial;
    after = static_cast<State>(scatter.getDim());
  }
  if (auto gather = dyn_cast<dist::AllGatherOp>(op))
    before = static_cast<State>(gather.getDim());
  if (auto slice = dyn_cast<dist::SliceOp>(op))
    after = static_cast<State>(slice.getDim());
}

LogicalResult StateChecker::checkCollective(Operation *op) const {
  auto axis = op->getAttrOfType<StringAttr>("axis");
  int64_t index = axis ? mesh.indexOf(axis) : -1;
  if (index < 0)
    return op->emitOpError("expected an axis of the mesh ") << mesh;
  State before = kReplicated, after = kReplicated;
  expectedStates(op, before, after);
  std::vector<State> from = states(op->getOperand(0));
  std::vector<State> to = states(op->getResult(0));
  if (from[index] != before)
    return op->emitOpError("expected an operand that is ")
           << describe(before) << " over " << axis << ", found one that is "
           << describe(from[index]);
  if (to[index] != after)
    return op->emitOpError("expected a result that is ")
           << describe(after) << " over " << axis << ", found "
           << describe(to[index]);
  return checkOtherAxes(op, index, from, to);
}

LogicalResult StateChecker::checkOtherAxes(Operation *op, int64_t index,
                                           const std::vector<State> &from,
                                           const std::vector<State> &to) const {
  bool isMax = from[index] == kMax;
  for (auto [a, axis] : llvm::enumerate(mesh.getAxes())) {
    if (static_cast<int64_t>(a) == index)
      continue;
    if (from[a] != to[a])
      return op->emitOpError("expected the state over ")
             << axis << " to stay " << describe(from[a]) << ", found "
             << describe(to[a]);
    if (isMax && from[a] == kPartial)
      return op->emitOpError("expected no maximum of partial sums over ")
             << axis;
  }
  std::string problem = checkReshard(from, to);
  return problem.empty() ? success() : op->emitOpError(problem);
}

} // namespace mtc::sharding
