//===- VerifyPartitioned.cpp - --verify-partitioned -----------------------===//
//
// Checks what --partition promises, from the argument shardings on, op by op
// and without what the passes before have computed in between.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/families/FamilyPass.h"
#include "passes/sharding/state_checker.h"

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
  explicit Verifier(func::FuncOp fn) : fn(fn), checker(dist::meshOf(fn)) {}

  LogicalResult run() {
    LogicalResult ok = success();
    for (BlockArgument arg : fn.getArguments()) {
      if (failed(checker.checkLocal(fn, arg)))
        ok = failure();
      if (fn.getArgAttr(arg.getArgNumber(), "tfm.input"))
        checker.addInput(arg);
    }
    for (Operation &op : fn.front().without_terminator())
      if (failed(checker.checkOp(&op)))
        ok = failure();
    return failed(checkResults()) ? failure() : ok;
  }

private:
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
      if (recorded && checker.states(value) != statesOf(checker.mesh, recorded))
        return fn.emitOpError("expected result ")
               << i << " to be " << recorded << ", found "
               << dist::shardingOf(value);
      if (failed(checkResult(i, checker.states(value))))
        return failure();
    }
    return success();
  }

  LogicalResult checkResult(unsigned i, const std::vector<State> &found) {
    if (auto grad = fn.getResultAttrOfType<tfm::GradAttr>(i, "tfm.grad")) {
      BlockArgument arg = parameter(grad.getParam());
      if (!arg)
        return fn.emitOpError("expected a parameter named ") << grad.getParam();
      std::string problem = checker.checkGradient(found, checker.states(arg));
      return problem.empty() ? success()
                             : fn.emitOpError("expected the gradient of ")
                                   << grad.getParam() << " " << problem;
    }
    auto name = fn.getResultAttrOfType<StringAttr>(i, "tfm.result");
    if (name && name.getValue() == "loss") {
      std::string problem = checker.checkLoss(found);
      return problem.empty() ? success()
                             : fn.emitOpError("expected the loss ") << problem;
    }
    for (auto [a, axis] : llvm::enumerate(checker.mesh.getAxes()))
      if (isPartial(found[a]))
        return fn.emitOpError("expected result ")
               << i << " in full over " << axis << ", found "
               << describe(found[a]);
    return success();
  }

  func::FuncOp fn;
  StateChecker checker;
};

struct VerifyPartitionedPass
    : mtc::passes::FamilyPass<
          passes::impl::VerifyPartitionedBase<VerifyPartitionedPass>> {
  void runPhase() override {
    auto run = [](func::FuncOp fn) { return Verifier(fn).run(); };
    if (failed(onMicrobatches(getOperation(), run)))
      signalPassFailure();
  }
};

} // namespace
