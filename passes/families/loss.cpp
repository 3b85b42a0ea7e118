//===- loss.cpp - family: labels and padding ------------------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

//===--- pick -------------------------------------------------------------===//

static ShardingRule pickRule(tfm::PickOp op) {
  std::string row = factors(rankOf(op.getResult()));
  return {.operands = {row + "v", row},
          .results = {row},
          .linear = {{0}},
          .masked = "v"};
}

static Values pickGradient(OpBuilder &b, tfm::PickOp op, ValueRange dy) {
  return {tfm::PickGradOp::create(b, op.getLoc(), op.getZ().getType(),
                                  op.getLabels(), dy[0]),
          Value()};
}

static Values pickBody(BodyContext &c, Operation *op, ValueRange x) {
  Value hit = c.equal({c.toGlobal(op, c.col()), x[1]});
  return {c.rowSum(c.select({hit, x[0], c.constant(0.0)}))};
}

static ShardingRule pickGradRule(tfm::PickGradOp op) {
  std::string row = factors(rankOf(op.getLabels()));
  return {.operands = {row, row},
          .results = {row + "v"},
          .linear = {{1}},
          .masked = "v"};
}

static Values pickGradBody(BodyContext &c, Operation *op, ValueRange x) {
  Value hit = c.equal({c.toGlobal(op, c.col()), x[0]});
  return {c.select({hit, x[1], c.constant(0.0)})};
}

//===--- mask_tail --------------------------------------------------------===//

static ShardingRule maskRule(tfm::MaskTailOp op) {
  std::string all = factors(rankOf(op.getResult()));
  ShardingRule rule{.operands = {all},
                    .results = {all},
                    .masked = all.substr(all.size() - 1)};
  if (op.getFill().isZero())
    rule.linear = {{0}};
  return rule;
}

static Values maskGradient(OpBuilder &b, tfm::MaskTailOp op, ValueRange dy) {
  return {tfm::MaskTailOp::create(b, op.getLoc(), dy[0].getType(), dy[0],
                                  op.getValidAttr(), b.getF32FloatAttr(0.0f))};
}

static Values maskBody(BodyContext &c, tfm::MaskTailOp op, ValueRange x) {
  Value valid =
      c.lessThan({c.toGlobal(op, c.col()), c.constantI32(op.getValid())});
  return {c.select({valid, x[0], c.constant(op.getFill().convertToDouble())})};
}

void mtc::families::attachLoss(MLIRContext *context) {
  attach<OpFamily::Loss, tfm::PickOp, pickRule, pickGradient, pickBody>(
      context);
  attach<OpFamily::Loss, tfm::PickGradOp, pickGradRule, kBackwardOp,
         pickGradBody>(context);
  attach<OpFamily::Loss, tfm::MaskTailOp, maskRule, maskGradient, maskBody>(
      context);
}
