//===- VerifyPartitioned.cpp - --verify-partitioned -----------------------===//
//
// Checks what --partition promises, from the argument shardings on, op by op
// and without what the passes before have computed in between.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/sharding/check.h"
#include "passes/sharding/index_use.h"

#include "mlir/IR/Builders.h"

namespace mtc::passes {
#define GEN_PASS_DEF_VERIFYPARTITIONED
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::sharding;

namespace {

class Verifier {
public:
  explicit Verifier(func::FuncOp fn) : fn(fn), mesh(dist::meshOf(fn)) {}

  LogicalResult run() {
    LogicalResult ok = success();
    for (BlockArgument arg : fn.getArguments())
      if (failed(checkLocal(fn, arg,
                            fn.getArgAttrOfType<DenseI64ArrayAttr>(
                                arg.getArgNumber(), globalShapeAttrName))))
        ok = failure();
    for (Operation &op : fn.front().without_terminator())
      if (failed(checkOp(&op)))
        ok = failure();
    return failed(checkResults()) ? failure() : ok;
  }

private:
  std::vector<State> states(Value value) {
    return statesOf(mesh, dist::shardingOf(value));
  }

  DenseI64ArrayAttr globalShape(Value value) {
    if (auto arg = dyn_cast<BlockArgument>(value))
      return fn.getArgAttrOfType<DenseI64ArrayAttr>(arg.getArgNumber(),
                                                    globalShapeAttrName);
    auto result = cast<OpResult>(value);
    auto all =
        result.getOwner()->getAttrOfType<ArrayAttr>(globalShapesAttrName);
    if (!all || all.size() != result.getOwner()->getNumResults())
      return {};
    return dyn_cast<DenseI64ArrayAttr>(all[result.getResultNumber()]);
  }

  /// The local type is the recorded sharding of the recorded global shape. With
  /// this, letters that agree on local sizes (the ops' verifiers) and on states
  /// agree on global sizes.
  LogicalResult checkLocal(Operation *op, Value value,
                           DenseI64ArrayAttr global) {
    auto type = cast<RankedTensorType>(value.getType());
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

  LogicalResult checkOp(Operation *op) {
    if (isa<dist::ReshardOp>(op))
      return op->emitOpError("expected no reshard after --partition");
    for (Value result : op->getResults()) {
      if (!dist::shardingOf(result))
        return op->emitOpError("expected ") << dist::shardingsAttrName;
      if (failed(checkLocal(op, result, globalShape(result))))
        return failure();
    }
    if (op->getDialect() && isa<dist::DistDialect>(op->getDialect()))
      return checkCollective(op);
    FailureOr<Rule> rule = ruleOf(op);
    if (failed(rule) || failed(checkAxes(op, *rule)))
      return failure();
    return checkIndexUse(op);
  }

  LogicalResult checkAxes(Operation *op, const Rule &rule) {
    for (auto [a, axis] : llvm::enumerate(mesh.getAxes())) {
      std::vector<State> operands, results;
      for (Value v : op->getOperands())
        operands.push_back(states(v)[a]);
      for (Value v : op->getResults())
        results.push_back(states(v)[a]);
      std::string problem = checkStates(rule, operands, results);
      if (!problem.empty())
        return op->emitOpError(problem) << " over " << axis;
    }
    return success();
  }

  LogicalResult checkIndexUse(Operation *op) {
    FailureOr<std::optional<IndexUse>> use = indexUseOf(op, mesh);
    if (failed(use))
      return failure();
    auto axis = op->getAttrOfType<StringAttr>("dist.index_axis");
    auto stride = op->getAttrOfType<IntegerAttr>("dist.index_stride");
    if (!*use)
      return axis || stride ? op->emitOpError("expected no dist.index_axis: no "
                                              "indexed dimension is split")
                            : success();
    if (axis && stride && axis.getValue() == (*use)->axis &&
        stride.getInt() == (*use)->stride)
      return success();
    return op->emitOpError("expected dist.index_axis = \"")
           << (*use)->axis << "\" and dist.index_stride = " << (*use)->stride
           << ": local indices need the rank's offset";
  }

  //===--- collectives
  //--------------------------------------------------------===//

  LogicalResult checkCollective(Operation *op) {
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

  LogicalResult checkOtherAxes(Operation *op, int64_t index,
                               const std::vector<State> &from,
                               const std::vector<State> &to) {
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

  //===--- results
  //--------------------------------------------------------------===//

  /// Axes that split the batch: where gradients and the loss may stay partial.
  bool isData(StringRef axis) {
    for (unsigned i = 0; i < fn.getNumArguments(); ++i)
      if (fn.getArgAttr(i, "tfm.input") &&
          statesOf(mesh, dist::shardingOf(
                             fn.getArgument(i)))[mesh.indexOf(axis)] >= 0)
        return true;
    return false;
  }

  BlockArgument parameter(StringRef name) {
    for (BlockArgument arg : fn.getArguments())
      if (auto p = fn.getArgAttrOfType<tfm::ParamAttr>(arg.getArgNumber(),
                                                       "tfm.param");
          p && p.getName() == name)
        return arg;
    return {};
  }

  LogicalResult checkResults() {
    Operation *ret = fn.front().getTerminator();
    for (auto [i, value] : llvm::enumerate(ret->getOperands())) {
      auto recorded =
          fn.getResultAttrOfType<dist::ShardingAttr>(i, dist::shardingAttrName);
      if (recorded && states(value) != statesOf(mesh, recorded))
        return fn.emitOpError("expected result ")
               << i << " to be " << recorded << ", found "
               << dist::shardingOf(value);
      if (failed(checkResult(i, states(value))))
        return failure();
    }
    return success();
  }

  LogicalResult checkResult(unsigned i, const std::vector<State> &found) {
    auto grad = fn.getResultAttrOfType<tfm::GradAttr>(i, "tfm.grad");
    auto name = fn.getResultAttrOfType<StringAttr>(i, "tfm.result");
    std::vector<State> param(found.size(), kReplicated);
    if (grad) {
      BlockArgument arg = parameter(grad.getParam());
      if (!arg)
        return fn.emitOpError("expected a parameter named ") << grad.getParam();
      param = states(arg);
    }
    for (auto [a, axis] : llvm::enumerate(mesh.getAxes())) {
      if (grad && found[a] != param[a] &&
          !(found[a] == kPartial && param[a] == kReplicated))
        return fn.emitOpError("expected the gradient of ")
               << grad.getParam() << " to be " << describe(param[a]) << " over "
               << axis << " as the parameter is, found " << describe(found[a]);
      bool isLoss = name && name.getValue() == "loss";
      if (!grad && isPartial(found[a]) && !(isLoss && isData(axis)))
        return fn.emitOpError("expected result ")
               << i << " in full over " << axis << ", found "
               << describe(found[a]);
    }
    return success();
  }

  func::FuncOp fn;
  dist::MeshAttr mesh;
};

struct VerifyPartitionedPass
    : mtc::passes::PhasePass<
          passes::impl::VerifyPartitionedBase<VerifyPartitionedPass>> {
  void runPhase() override {
    FailureOr<func::FuncOp> fn = microbatchOf(getOperation());
    if (failed(fn) || failed(Verifier(*fn).run()))
      signalPassFailure();
  }
};

} // namespace
