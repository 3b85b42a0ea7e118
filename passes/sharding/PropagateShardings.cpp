//===- PropagateShardings.cpp - --propagate-shardings ---------------------===//
//
// Establishes: every op has dist.shardings (what it makes) and dist.required
// (what it needs, per operand); results of @microbatch have dist.sharding.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/families/FamilyPass.h"
#include "passes/sharding/split_saved.h"

#include "mlir/IR/Builders.h"

namespace mtc::passes {
#define GEN_PASS_DEF_PROPAGATESHARDINGS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::sharding;

namespace {

class Writer {
public:
  Writer(IrGraph &ir, const Plan &plan) : ir(ir), plan(plan) {}

  void run() {
    for (size_t i = 0; i < ir.graph.ops.size(); ++i)
      writeOp(static_cast<int>(i));
    Operation *ret = ir.fn.front().getTerminator();
    SmallVector<Attribute> required;
    for (auto [i, value] : llvm::enumerate(ret->getOperands())) {
      required.push_back(sharding(value, [&, i = i](size_t a) {
        return plan.axes[a].outputRequired[i];
      }));
      ir.fn.setResultAttr(i, dist::shardingAttrName, required.back());
    }
    setArray(ret, requiredAttrName, required);
  }

private:
  Attribute sharding(Value value, llvm::function_ref<State(size_t)> state) {
    return shardingFrom(ir.mesh, rankOf(value), state);
  }
  void setArray(Operation *op, StringRef name, ArrayRef<Attribute> attrs) {
    op->setAttr(name, ArrayAttr::get(op->getContext(), attrs));
  }

  void writeOp(int i) {
    Operation *op = ir.opAt(i);
    SmallVector<Attribute> made, required;
    for (int v : ir.graph.ops[i].results)
      made.push_back(sharding(ir.values[v],
                              [&](size_t a) { return plan.axes[a].state[v]; }));
    for (auto [k, operand] : llvm::enumerate(op->getOperands()))
      required.push_back(sharding(operand, [&, k = k](size_t a) {
        return plan.axes[a].required[i][k];
      }));
    setArray(op, dist::shardingsAttrName, made);
    setArray(op, requiredAttrName, required);
  }

  IrGraph &ir;
  const Plan &plan;
};

struct PropagateShardingsPass
    : mtc::passes::FamilyPass<
          passes::impl::PropagateShardingsBase<PropagateShardingsPass>> {
  static LogicalResult run(func::FuncOp fn) {
    if (failed(tfm::checkCopies(fn)))
      return failure();
    FailureOr<IrGraph> ir = readGraph(fn);
    if (failed(ir))
      return failure();
    Plan plan = planShardings(ir->graph, ir->axes);
    writeAdds(*ir);
    if (failed(splitSaved(*ir, plan)))
      return failure();
    for (const AxisPlan &axis : plan.axes)
      for (const Remark &remark : axis.remarks)
        ir->opAt(remark.op)->emitRemark(remark.text);
    Writer(*ir, plan).run();
    return success();
  }

  void runPhase() override {
    if (failed(onMicrobatches(getOperation(), run)))
      signalPassFailure();
  }
};

} // namespace
