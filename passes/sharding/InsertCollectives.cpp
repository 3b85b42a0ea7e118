//===- InsertCollectives.cpp - --insert-collectives -----------------------===//
//
// Establishes: every operand has the sharding that its op requires
// (dist.required, removed here), by dist.reshard on global types; no tfm.whole
// is left.
//
//===----------------------------------------------------------------------===//
#include "dialects/Tables.h"
#include "passes/Passes.h"
#include "passes/families/FamilyPass.h"
#include "passes/sharding/ir_graph.h"

#include "mlir/IR/Builders.h"

namespace mtc::passes {
#define GEN_PASS_DEF_INSERTCOLLECTIVES
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::sharding;

namespace {

/// Reads back what propagate-shardings wrote (a person may have edited it).
class PlanReader {
public:
  explicit PlanReader(IrGraph &ir) : ir(ir) {}

  FailureOr<Plan> run() {
    plan.axes.resize(ir.axes.size());
    for (AxisPlan &axis : plan.axes) {
      axis.state.assign(ir.values.size(), kReplicated);
      axis.required.resize(ir.ops.size());
    }
    for (auto [v, value] : llvm::enumerate(ir.values))
      if (failed(readState(static_cast<int>(v), value)))
        return failure();
    for (auto [i, op] : llvm::enumerate(ir.ops))
      if (failed(readRequired(
              op, [&, i = i](size_t a) { return &plan.axes[a].required[i]; })))
        return failure();
    if (failed(readRequired(ir.fn.front().getTerminator(), [&](size_t a) {
          return &plan.axes[a].outputRequired;
        })))
      return failure();
    return std::move(plan);
  }

private:
  LogicalResult readState(int v, Value value) {
    dist::ShardingAttr sharding = dist::shardingOf(value);
    if (!sharding && value.getDefiningOp())
      return value.getDefiningOp()->emitOpError("expected ")
             << dist::shardingsAttrName << "; run --propagate-shardings first";
    for (auto [a, state] : llvm::enumerate(statesOf(ir.mesh, sharding)))
      plan.axes[a].state[v] = state;
    return success();
  }

  LogicalResult
  readRequired(Operation *op,
               llvm::function_ref<std::vector<State> *(size_t)> to) {
    auto required = op->getAttrOfType<ArrayAttr>(requiredAttrName);
    if (!required || required.size() != op->getNumOperands())
      return op->emitOpError("expected ")
             << requiredAttrName << " with " << op->getNumOperands()
             << " entries; run --propagate-shardings first";
    for (Attribute each : required)
      for (auto [a, state] : llvm::enumerate(
               statesOf(ir.mesh, dyn_cast<dist::ShardingAttr>(each))))
        to(a)->push_back(state);
    return success();
  }

  IrGraph &ir;
  Plan plan;
};

/// Why a reshard exists.
struct Purpose {
  dist::Origin origin;
  std::string serves;
};

class Inserter {
public:
  Inserter(IrGraph &ir, const Plan &plan) : ir(ir), plan(plan) {}

  LogicalResult run() {
    std::vector<Reshard> reshards = planReshards(ir.graph, plan);
    for (const Reshard &r : reshards)
      if (failed(insert(r)))
        return failure();
    for (Operation *op : ir.ops)
      op->removeAttr(requiredAttrName);
    removeWholes();
    terminator()->removeAttr(requiredAttrName);
    return success();
  }

private:
  /// What they ask for is done.
  void removeWholes() {
    for (Operation *op : ir.ops)
      if (auto whole = dyn_cast<tfm::WholeOp>(op)) {
        whole.getResult().replaceAllUsesWith(whole.getX());
        whole.erase();
      }
  }
  Operation *terminator() { return ir.fn.front().getTerminator(); }

  LogicalResult insert(const Reshard &r) {
    Value value = r.input < 0 ? ir.values[r.value] : made[r.input];
    Operation *before = positionOf(r), *like = r.afterProducer || r.before < 0
                                                   ? value.getDefiningOp()
                                                   : before;
    std::string problem = checkReshard(r.from, r.to);
    if (!problem.empty())
      return before->emitOpError(problem);
    OpBuilder b(before);
    auto from = shardingFrom(ir.mesh, rankOf(value),
                             [&](size_t a) { return r.from[a]; });
    auto to =
        shardingFrom(ir.mesh, rankOf(value), [&](size_t a) { return r.to[a]; });
    Purpose purpose = purposeOf(r, before);
    auto op = dist::ReshardOp::create(b, value.getLoc(), value.getType(), value,
                                      from, to, purpose.origin, purpose.serves);
    if (like)
      for (StringRef name : {tfm::layerAttr, tfm::phaseAttr})
        if (Attribute attr = like->getAttr(name))
          op->setAttr(name, attr);
    dist::setSharding(op.getResult(), to);
    for (Use use : r.uses)
      (use.op < 0 ? terminator() : ir.opAt(use.op))
          ->setOperand(use.index, op.getResult());
    made.push_back(op.getResult());
    return success();
  }

  Operation *positionOf(const Reshard &r) {
    if (r.afterProducer)
      return ir.opAt(ir.graph.values[r.value].producer)->getNextNode();
    return r.before < 0 ? terminator() : ir.opAt(r.before);
  }

  Purpose purposeOf(const Reshard &r, Operation *before) {
    if (int parameter = parameterOf(r.value); parameter >= 0)
      return {dist::Origin::Gradient, nameOf(parameter)};
    for (size_t a = 0; a < r.from.size(); ++a)
      if (isPartial(r.from[a]) && r.from[a] != r.to[a])
        return reductionPurpose(r.value, a);
    if (joinsSaved(r))
      return {dist::Origin::Saved, nameOf(r.value)};
    if (movesData(r))
      return {dist::Origin::SP, nameOf(r.value)};
    return {tfm::isBackward(before) ? dist::Origin::F : dist::Origin::G,
            nameOf(r.value)};
  }

  /// Whether parts of samples, which ranks along an axis of the data have, are
  /// brought together or apart.
  bool movesData(const Reshard &r) {
    for (auto [a, axis] : llvm::enumerate(ir.mesh.getAxes()))
      if (r.from[a] != r.to[a] && hasParts(axis.getValue()))
        return true;
    return false;
  }

  static bool hasParts(StringRef axis) {
    std::optional<MtcAxis> known = axisNamed(axis);
    return known && kAxes[*known].data;
  }

  /// Whether what was saved in parts is brought together.
  bool joinsSaved(const Reshard &r) {
    int restore = ir.graph.values[r.value].producer;
    if (!isa_and_nonnull<tfm::RestoreOp>(ir.opAt(restore)))
      return false;
    int saved = ir.graph.ops[restore].operands.front();
    int save = ir.graph.values[saved].producer;
    int whole = ir.graph.ops[save].operands.front();
    for (size_t a = 0; a < r.from.size(); ++a)
      if (r.from[a] >= 0 && r.from[a] != r.to[a] &&
          plan.axes[a].state[whole] == kReplicated)
        return true;
    return false;
  }

  std::string nameOf(int value) {
    const Tensor &v = ir.graph.values[value];
    return v.producer < 0 ? v.name : ir.graph.ops[v.producer].name;
  }

  /// The parameter whose gradient the value is, or -1.
  int parameterOf(int value) {
    for (const Output &out : ir.graph.outputs)
      if (out.kind == OutputKind::Gradient && out.value == value)
        return out.parameter;
    return -1;
  }

  Purpose reductionPurpose(int value, size_t axis) {
    std::vector<int> sources = sourcesOf(ir.graph, plan.axes[axis], value);
    Operation *first = ir.opAt(sources.front());
    // Names in the order of the forward.
    if (tfm::isBackward(first))
      std::reverse(sources.begin(), sources.end());
    std::string serves;
    for (int source : sources) {
      std::string name = servedBy(source);
      if (serves.find(name) == std::string::npos)
        serves += (serves.empty() ? "" : "+") + name;
    }
    return {hasParts(ir.mesh.getAxes()[axis].getValue()) ? dist::Origin::SP
                                                         : originOf(first),
            serves};
  }

  std::string servedBy(int op) {
    int parameter = parameterOperand(ir.graph, op);
    return parameter < 0 ? ir.graph.ops[op].name
                         : ir.graph.values[parameter].name;
  }

  static dist::Origin originOf(Operation *op) {
    if (isa<tfm::EmbedOp, tfm::EmbedGradOp>(op))
      return dist::Origin::Embedding;
    if (isa<tfm::NormOp, tfm::NormDxOp, tfm::NormDscaleOp>(op))
      return dist::Origin::Norm;
    if (isa<tfm::PickOp, tfm::ReduceOp>(op))
      return dist::Origin::Loss;
    return tfm::isBackward(op) ? dist::Origin::F : dist::Origin::G;
  }

  IrGraph &ir;
  const Plan &plan;
  std::vector<Value> made;
};

struct InsertCollectivesPass
    : mtc::passes::FamilyPass<
          passes::impl::InsertCollectivesBase<InsertCollectivesPass>> {
  static LogicalResult run(func::FuncOp fn) {
    FailureOr<IrGraph> ir = readGraph(fn);
    if (failed(ir))
      return failure();
    FailureOr<Plan> plan = PlanReader(*ir).run();
    if (failed(plan))
      return failure();
    return Inserter(*ir, *plan).run();
  }

  void runPhase() override {
    if (failed(onMicrobatches(getOperation(), run)))
      signalPassFailure();
  }
};

} // namespace
