//===- split_saved.cpp - saved values in parts ----------------------------===//
#include "passes/sharding/split_saved.h"

using namespace mlir;

namespace mtc::sharding {
namespace {

class Splitter {
public:
  Splitter(IrGraph &ir, Plan &plan, int64_t axis)
      : ir(ir), plan(plan), axis(axis), parts(ir.mesh.getSizes()[axis]) {}

  void run() {
    for (size_t i = 0; i < ir.graph.ops.size(); ++i)
      if (isa_and_nonnull<tfm::SaveOp>(ir.opAt(static_cast<int>(i))))
        split(static_cast<int>(i));
  }

private:
  void split(int save) {
    const Op &op = ir.graph.ops[save];
    int value = op.operands.front(), saved = op.results.front();
    State dim = dimensionOf(value);
    if (dim == kReplicated || ir.graph.values[value].producer < 0)
      return;
    plan.axes[axis].required[save].front() = dim;
    plan.axes[axis].state[saved] = dim;
    for (size_t i = 0; i < ir.graph.ops.size(); ++i)
      if (isa_and_nonnull<tfm::RestoreOp>(ir.opAt(static_cast<int>(i))) &&
          ir.graph.ops[i].operands.front() == saved) {
        plan.axes[axis].required[i].front() = dim;
        plan.axes[axis].state[ir.graph.ops[i].results.front()] = dim;
      }
  }

  /// Along which a value that is whole is split; else kReplicated.
  State dimensionOf(int value) const {
    if (plan.axes[axis].state[value] != kReplicated)
      return kReplicated;
    auto shape = cast<RankedTensorType>(ir.values[value].getType()).getShape();
    for (auto [dim, size] : llvm::enumerate(shape))
      if (size % parts == 0 && !isSplit(value, static_cast<State>(dim)))
        return static_cast<State>(dim);
    return kReplicated;
  }

  bool isSplit(int value, State dim) const {
    return llvm::any_of(plan.axes, [&](const AxisPlan &other) {
      return other.state[value] == dim;
    });
  }

  IrGraph &ir;
  Plan &plan;
  int64_t axis;
  int64_t parts; ///< ranks along the axis
};

} // namespace

LogicalResult splitSaved(IrGraph &ir, Plan &plan) {
  auto module = ir.fn->getParentOfType<ModuleOp>();
  Attribute attr = module->getAttr(dist::splitSavedAttrName);
  if (!attr)
    return success();
  auto name = dyn_cast<StringAttr>(attr);
  int64_t axis = name ? ir.mesh.indexOf(name) : -1;
  if (axis < 0)
    return module.emitError("expected ")
           << dist::splitSavedAttrName << " to name an axis of the mesh "
           << ir.mesh << ", found " << attr;
  if (ir.mesh.getSizes()[axis] > 1)
    Splitter(ir, plan, axis).run();
  return success();
}

} // namespace mtc::sharding
