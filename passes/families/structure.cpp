//===- structure.cpp - family: save, restore, export, stop_gradient -------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

void mtc::families::registerStructure() {
  for (StringRef name :
       {tfm::SaveOp::getOperationName(), tfm::RestoreOp::getOperationName()}) {
    OpFamily f;
    f.rule = elementwiseRule({{0}});
    f.noGradient = "made by differentiate itself";
    f.noBody = "a place in the activation slot, not a computation";
    add(name, f);
  }
  OpFamily stop;
  stop.rule = elementwiseRule({});
  stop.gradient = [](OpBuilder &, Operation *, ValueRange) {
    return SmallVector<Value>{Value()};
  };
  stop.noBody = "removed by differentiate";
  add(tfm::StopGradientOp::getOperationName(), stop);

  OpFamily exported;
  exported.rule = [](Operation *op) {
    return ShardingRule{
        {letters(rankOf(op->getOperand(0)))}, {}, "", {}, false, "", false};
  };
  exported.gradient = [](OpBuilder &, Operation *, ValueRange) {
    return SmallVector<Value>{Value()};
  };
  exported.noBody = "names a value; computes nothing";
  add(tfm::ExportOp::getOperationName(), exported);
}
