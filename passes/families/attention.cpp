//===- attention.cpp - family: attention ----------------------------------===//
//
// Factors: b sample, s position (blocked), k head, g stack of a fused operand
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

static ShardingRule attentionRule(tfm::AttentionOp op) {
  std::vector<std::string> operands = qkvLetters(op.getQkv().size());
  operands.push_back("");
  return {.operands = operands,
          .results = {"bskd", "bks"},
          .blocked = "sgd",
          .indexed = "k"};
}

static FailureOr<Values> attentionGradient(OpBuilder &b, tfm::AttentionOp op,
                                           ValueRange dy) {
  if (dy[1])
    return op.emitOpError("expected a loss that reads the log-sum-exp only "
                          "behind tfm.stop_gradient, found a cotangent of it; "
                          "it has no gradient rule");
  auto grad = tfm::AttentionGradOp::create(
      b, op.getLoc(), op.getQkv().getTypes(), dy[0], op.getOut(), op.getLse(),
      op.getQkv(), op.getSample(), op.getCausalAttr(), op.getScaleAttr(),
      op.getRateAttr(), op.getRngLayerAttr(), op.getSiteAttr(),
      op.getGlobalHeadsAttr());
  Values out(grad.getResults());
  out.push_back(Value());
  return out;
}

static ShardingRule attentionGradRule(tfm::AttentionGradOp op) {
  std::vector<std::string> qkv = qkvLetters(op.getQkv().size());
  std::vector<std::string> operands = {"bskd", "bskd", "bks"};
  operands.insert(operands.end(), qkv.begin(), qkv.end());
  operands.push_back("");
  return {
      .operands = operands, .results = qkv, .blocked = "sgd", .indexed = "k"};
}

static constexpr Absent runtimeKernel("a blocked kernel of the runtime "
                                      "(rt.attention)");

static void attentionInEval(RewriterBase &rewriter, tfm::AttentionOp op) {
  rewriter.modifyOpInPlace(op, [&] { op.setRate(APFloat(0.0)); });
}

void mtc::families::attachAttention(MLIRContext *context) {
  attach<OpFamily::Attention, tfm::AttentionOp, attentionRule,
         attentionGradient, runtimeKernel>(context);
  attachEval<tfm::AttentionOp, attentionInEval>(context);
  attach<OpFamily::Attention, tfm::AttentionGradOp, attentionGradRule,
         kBackwardOp, runtimeKernel>(context);
}
