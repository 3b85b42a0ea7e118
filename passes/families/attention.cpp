//===- attention.cpp - family: attention ----------------------------------===//
//
// Letters: b sample, s position (blocked), k head, g stack of a fused operand
// (blocked), d head dimension (blocked).
//
//===----------------------------------------------------------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

static std::vector<std::string> qkvLetters(size_t count) {
  if (count == 1)
    return {"bskgd"};
  return std::vector<std::string>(count, "bskd");
}

void mtc::families::registerAttention() {
  OpFamily f;
  f.rule = [](Operation *op) {
    ShardingRule rule;
    rule.operands = qkvLetters(cast<tfm::AttentionOp>(op).getQkv().size());
    rule.operands.push_back("");
    rule.results = {"bskd", "bks"};
    rule.blocked = "sgd";
    return rule;
  };
  f.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    auto a = cast<tfm::AttentionOp>(op);
    if (dy[1]) {
      op->emitOpError("expected a loss that reads the log-sum-exp only behind "
                      "tfm.stop_gradient, found a cotangent of it; it has no "
                      "gradient rule");
      return SmallVector<Value>(op->getNumOperands());
    }
    auto grad = tfm::AttentionGradOp::create(
        b, op->getLoc(), a.getQkv().getTypes(), dy[0], a.getOut(), a.getLse(),
        a.getQkv(), a.getSample(), a.getCausalAttr(), a.getScaleAttr(),
        a.getRateAttr(), a.getRngLayerAttr(), a.getSiteAttr(),
        a.getGlobalHeadsAttr());
    SmallVector<Value> out(grad.getResults());
    out.push_back(Value());
    return out;
  };
  f.noBody = "a blocked kernel of the runtime (rt.attention)";
  add(tfm::AttentionOp::getOperationName(), f);

  OpFamily g;
  g.rule = [](Operation *op) {
    ShardingRule rule;
    auto qkv = qkvLetters(cast<tfm::AttentionGradOp>(op).getQkv().size());
    rule.operands = {"bskd", "bskd", "bks"};
    rule.operands.insert(rule.operands.end(), qkv.begin(), qkv.end());
    rule.operands.push_back("");
    rule.results = qkv;
    rule.blocked = "sgd";
    return rule;
  };
  g.noGradient = "a backward op; second derivatives are not taken";
  g.noBody = "a blocked kernel of the runtime (rt.attention)";
  add(tfm::AttentionGradOp::getOperationName(), g);
}
