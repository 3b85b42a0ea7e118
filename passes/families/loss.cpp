//===- loss.cpp - family: labels and padding ------------------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

static void registerPick() {
  OpFamily f;
  f.rule = [](Operation *op) {
    std::string row = letters(rankOf(op->getResult(0)));
    return ShardingRule{{row + "v", row}, {row}, "", {{0}}, false, "v", false};
  };
  f.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    auto pick = cast<tfm::PickOp>(op);
    return SmallVector<Value>{tfm::PickGradOp::create(b, op->getLoc(),
                                                      pick.getZ().getType(),
                                                      pick.getLabels(), dy[0]),
                              Value()};
  };
  f.body = [](BodyContext &c, Operation *op,
              ValueRange x) -> SmallVector<Value> {
    Value hit = c.equal(c.toGlobal(op, c.col()), x[1]);
    return {c.rowSum(c.select(hit, x[0], c.constant(0.0)))};
  };
  add(tfm::PickOp::getOperationName(), f);

  OpFamily g;
  g.rule = [](Operation *op) {
    std::string row = letters(rankOf(op->getOperand(0)));
    return ShardingRule{{row, row}, {row + "v"}, "", {{1}}, false, "v", false};
  };
  g.noGradient = "a backward op; second derivatives are not taken";
  g.body = [](BodyContext &c, Operation *op,
              ValueRange x) -> SmallVector<Value> {
    Value hit = c.equal(c.toGlobal(op, c.col()), x[0]);
    return {c.select(hit, x[1], c.constant(0.0))};
  };
  add(tfm::PickGradOp::getOperationName(), g);
}

static void registerMaskTail() {
  OpFamily f;
  f.rule = [](Operation *op) {
    std::string all = letters(rankOf(op->getResult(0)));
    ShardingRule rule{{all}, {all}, "", {}, false, all.substr(all.size() - 1),
                      false};
    if (cast<tfm::MaskTailOp>(op).getFill().isZero())
      rule.linear = {{0}};
    return rule;
  };
  f.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    auto mask = cast<tfm::MaskTailOp>(op);
    return SmallVector<Value>{
        tfm::MaskTailOp::create(b, op->getLoc(), dy[0].getType(), dy[0],
                                mask.getValidAttr(), b.getF32FloatAttr(0.0f))};
  };
  f.body = [](BodyContext &c, Operation *op,
              ValueRange x) -> SmallVector<Value> {
    auto mask = cast<tfm::MaskTailOp>(op);
    Value valid =
        c.lessThan(c.toGlobal(op, c.col()), c.constantI32(mask.getValid()));
    return {
        c.select(valid, x[0], c.constant(mask.getFill().convertToDouble()))};
  };
  f.rematerializable = true;
  add(tfm::MaskTailOp::getOperationName(), f);
}

void mtc::families::registerLoss() {
  registerPick();
  registerMaskTail();
}
