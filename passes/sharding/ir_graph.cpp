//===- ir_graph.cpp - reading and rewriting @microbatch -------------------===//
#include "passes/sharding/ir_graph.h"

#include "passes/families/family.h"
#include "passes/microbatch.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace mtc::sharding {

int64_t rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

Operation *IrGraph::opAt(int index) const {
  if (index < 0 || graph.ops[index].tag < 0)
    return nullptr;
  return ops[graph.ops[index].tag];
}

LogicalResult
onMicrobatches(ModuleOp module,
               llvm::function_ref<LogicalResult(func::FuncOp)> each) {
  auto functions = passes::microbatchesOf(module);
  if (failed(functions))
    return failure();
  if (!dist::meshOf(module))
    return module.emitError("expected the mesh as module attribute ")
           << dist::meshAttrName;
  for (func::FuncOp fn : *functions)
    if (failed(each(fn)))
      return failure();
  return success();
}

FailureOr<Rule> ruleOf(Operation *op) {
  auto family = dyn_cast<families::FamilyOpInterface>(op);
  if (!family)
    return op->emitOpError(
        "has no sharding rule; expected one in passes/families");
  Rule rule = family.getShardingRule();
  if (rule.operands.size() != op->getNumOperands() ||
      rule.results.size() != op->getNumResults())
    return op->emitOpError("expected a sharding rule for ")
           << op->getNumOperands() << " operands and " << op->getNumResults()
           << " results, found one for " << rule.operands.size() << " and "
           << rule.results.size();
  return rule;
}

dist::ShardingAttr shardingFrom(dist::MeshAttr mesh, int64_t rank,
                                llvm::function_ref<State(size_t)> state) {
  auto sharding = dist::ShardingAttr::replicated(mesh.getContext(), rank);
  for (auto [a, name] : llvm::enumerate(mesh.getAxes()))
    sharding = sharding.with(mesh, name, state(a));
  return sharding;
}

std::vector<State> statesOf(dist::MeshAttr mesh, dist::ShardingAttr sharding) {
  std::vector<State> states;
  for (StringAttr name : mesh.getAxes())
    states.push_back(sharding ? sharding.stateOf(name) : kReplicated);
  return states;
}

namespace {

class Reader {
public:
  explicit Reader(func::FuncOp fn) { ir.fn = fn; }

  FailureOr<IrGraph> run() {
    ir.mesh = dist::meshOf(ir.fn);
    for (BlockArgument arg : ir.fn.getArguments())
      readArgument(arg);
    for (Operation &op : ir.fn.front().without_terminator())
      if (failed(readOp(&op)))
        return failure();
    resolvePrimals();
    resolveCopies();
    readOutputs();
    readAxes();
    return std::move(ir);
  }

private:
  int addValue(Value value, int producer) {
    auto type = cast<RankedTensorType>(value.getType());
    Tensor v;
    v.shape.assign(type.getShape().begin(), type.getShape().end());
    v.elementBytes = std::max(1u, type.getElementTypeBitWidth() / 8);
    v.producer = producer;
    int index = static_cast<int>(ir.values.size());
    ir.graph.values.push_back(std::move(v));
    ir.values.push_back(value);
    indexOf[value] = index;
    return index;
  }

  void readArgument(BlockArgument arg) {
    int v = addValue(arg, -1);
    if (auto input = ir.fn.getArgAttrOfType<tfm::InputAttr>(arg.getArgNumber(),
                                                            "tfm.input"))
      setLogicalAxes(v, input.getAxes());
    auto param =
        ir.fn.getArgAttrOfType<tfm::ParamAttr>(arg.getArgNumber(), "tfm.param");
    if (!param)
      return;
    ir.graph.values[v].name = param.getName().str();
    ir.graph.values[v].parameter = true;
    setLogicalAxes(v, param.getAxes());
    parameters[param.getName()] = v;
  }

  /// A parameter in another type than it is stored in decides as it would, and
  /// has its name.
  void readAsParameter(int stored, int read) {
    const Tensor &from = ir.graph.values[stored];
    if (!from.parameter)
      return;
    ir.graph.values[read].parameter = true;
    ir.graph.values[read].name = from.name;
  }

  void setLogicalAxes(int value, ArrayAttr axes) {
    for (auto axis : axes.getAsRange<StringAttr>())
      ir.graph.values[value].axes.push_back(axis.str());
  }

  /// A result that lies as parameters do counts as the one it is made of.
  void layAsParameter(const Op &op, ArrayAttr axes) {
    int result = op.results.front();
    setLogicalAxes(result, axes);
    if (op.operands.empty())
      return;
    const Tensor &from = ir.graph.values[op.operands.front()];
    ir.graph.values[result].name = from.name;
    ir.graph.values[result].parameter = from.parameter;
  }

  LogicalResult readOp(Operation *op) {
    FailureOr<Rule> rule = ruleOf(op);
    if (failed(rule))
      return failure();
    int index = static_cast<int>(ir.graph.ops.size());
    Op out;
    out.name = op->getName().getStringRef().str();
    for (Value operand : op->getOperands())
      out.operands.push_back(indexOf.lookup(operand));
    for (Value result : op->getResults())
      out.results.push_back(addValue(result, index));
    if (isa<tfm::CastOp>(op))
      readAsParameter(out.operands.front(), out.results.front());
    if (auto axes = op->getAttrOfType<ArrayAttr>(tfm::axesAttr))
      layAsParameter(out, axes);
    out.rule = std::move(*rule);
    out.layer = tfm::layerOf(op);
    out.backward = tfm::isBackward(op);
    out.isAdd = isa<tfm::AddOp>(op);
    out.tag = index;
    ir.graph.ops.push_back(std::move(out));
    ir.ops.push_back(op);
    if (auto id = op->getAttrOfType<IntegerAttr>(tfm::idAttr))
      byId[id.getInt()] = index;
    return success();
  }

  /// `tfm.primal`: per result [id of the forward op, its result], [-1,
  /// argument] or [].
  void resolvePrimals() {
    for (size_t i = 0; i < ir.ops.size(); ++i) {
      auto all = ir.ops[i]->getAttrOfType<ArrayAttr>("tfm.primal");
      if (!all)
        continue;
      for (auto [result, entry] : llvm::zip(ir.graph.ops[i].results, all))
        ir.graph.values[result].primal =
            primalOf(cast<DenseI64ArrayAttr>(entry).asArrayRef());
    }
  }
  int primalOf(ArrayRef<int64_t> pair) {
    if (pair.size() != 2)
      return -1;
    if (pair[0] < 0)
      return static_cast<int>(pair[1]);
    auto it = byId.find(pair[0]);
    return it == byId.end() ? -1 : ir.graph.ops[it->second].results[pair[1]];
  }

  /// `tfm.recomputes`, as tfm::checkCopies wants it.
  void resolveCopies() {
    for (size_t i = 0; i < ir.ops.size(); ++i)
      if (auto id = ir.ops[i]->getAttrOfType<IntegerAttr>(tfm::recomputesAttr))
        if (auto it = byId.find(id.getInt()); it != byId.end())
          ir.graph.ops[i].copyOf = ir.graph.ops[it->second].tag;
  }

  void readOutputs() {
    Operation *ret = ir.fn.front().getTerminator();
    for (auto [i, operand] : llvm::enumerate(ret->getOperands())) {
      Output out{indexOf.lookup(operand)};
      if (auto grad = ir.fn.getResultAttrOfType<tfm::GradAttr>(i, "tfm.grad")) {
        out.kind = OutputKind::Gradient;
        out.parameter = parameters.lookup(grad.getParam());
      } else if (auto name =
                     ir.fn.getResultAttrOfType<StringAttr>(i, "tfm.result");
                 name && name.getValue() == "loss") {
        out.kind = OutputKind::Loss;
      }
      ir.graph.outputs.push_back(out);
    }
  }

  /// Whether the annotation of `value` splits it over the axis.
  bool readSeed(Value value, Axis &axis) {
    auto sharding = dist::shardingOf(value);
    State state = sharding ? sharding.stateOf(axis.name) : kReplicated;
    if (state >= 0)
      axis.seeds[indexOf.lookup(value)] = state;
    return state >= 0;
  }

  void readAxes() {
    auto weak =
        ir.fn->getParentOfType<ModuleOp>()->getAttrOfType<dist::WeakSplitAttr>(
            dist::weakSplitAttrName);
    for (auto [name, size] : llvm::zip(ir.mesh.getAxes(), ir.mesh.getSizes())) {
      Axis axis{name.str(), size, false, {}};
      axis.headAndTail = cutsHeadAndTail(name.str());
      for (BlockArgument arg : ir.fn.getArguments())
        if (size > 1 && readSeed(arg, axis))
          axis.data |= !!ir.fn.getArgAttr(arg.getArgNumber(), "tfm.input");
      for (Operation *op : ir.ops)
        if (size > 1 && op->hasAttr(tfm::axesAttr))
          readSeed(op->getResult(0), axis);
      if (weak && weak.getMesh() == name && size > 1)
        axis.weak = {weak.getAxis().str(), weak.getBeside().str()};
      ir.axes.push_back(std::move(axis));
    }
  }

  IrGraph ir;
  llvm::DenseMap<Value, int> indexOf;         ///< looked up only
  llvm::DenseMap<StringAttr, int> parameters; ///< looked up only
  llvm::DenseMap<int64_t, int> byId;          ///< looked up only
};

} // namespace

FailureOr<IrGraph> readGraph(func::FuncOp fn) { return Reader(fn).run(); }

void writeAdds(IrGraph &ir) {
  ir.values.resize(ir.graph.values.size());
  std::vector<bool> isKept(ir.ops.size(), false);
  for (size_t i = 0; i < ir.graph.ops.size(); ++i) {
    Op &op = ir.graph.ops[i];
    if (op.tag >= 0)
      isKept[op.tag] = true;
    if (!op.isAdd)
      continue;
    SmallVector<Value> operands;
    for (int operand : op.operands)
      operands.push_back(ir.values[operand]);
    if (op.tag >= 0) {
      ir.ops[op.tag]->setOperands(operands);
      continue;
    }
    // A new partial sum stands before the sum that it feeds: the next old one.
    size_t next = i + 1;
    while (ir.graph.ops[next].tag < 0)
      ++next;
    Operation *before = ir.ops[ir.graph.ops[next].tag];
    OpBuilder b(before);
    auto sum = tfm::AddOp::create(b, before->getLoc(),
                                  before->getResult(0).getType(), operands);
    sum->setDiscardableAttrs(before->getDiscardableAttrDictionary());
    sum->removeAttr(tfm::idAttr);
    sum->removeAttr(tfm::recomputesAttr);
    op.tag = static_cast<int>(ir.ops.size());
    ir.ops.push_back(sum);
    ir.values[op.results[0]] = sum.getResult();
  }
  for (size_t t = isKept.size(); t-- > 0;)
    if (!isKept[t]) {
      ir.ops[t]->erase();
      ir.ops[t] = nullptr;
    }
}

} // namespace mtc::sharding
