//===- attention.cpp - family: attention ----------------------------------===//
//
// Factors: b sample, s position of queries, t position of keys and values
// (blocked), k head, g stack of a fused operand (blocked), d head dimension
// (blocked). In a fused operand s is blocked: its keys would be split as well.
//
//===----------------------------------------------------------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

namespace {
/// What attention and its gradient say of q, k and v.
struct Letters {
  std::vector<std::string> qkv;
  std::string blocked, positions;
};
} // namespace

static Letters lettersOf(ValueRange qkv) {
  if (qkv.size() == 1)
    return {{"bskgd"}, "sgd", ""};
  return {{"bskd", "btkd", "btkd"}, "td", "s"};
}

/// What both read behind these: of each query where its document begins, a
/// position of the whole sequence, and the sample.
template <typename Op>
static void addOthers(Op op, std::vector<std::string> &operands) {
  if (op.getDocuments())
    operands.push_back("bs");
  operands.push_back("");
}

static ShardingRule attentionRule(tfm::AttentionOp op) {
  Letters letters = lettersOf(op.getQkv());
  std::vector<std::string> operands = letters.qkv;
  addOthers(op, operands);
  return {.operands = operands,
          .results = {"bskd", "bks"},
          .blocked = letters.blocked,
          .indexed = "k",
          .positions = letters.positions,
          .gathered = "t"};
}

static FailureOr<Values> attentionGradient(OpBuilder &b, tfm::AttentionOp op,
                                           ValueRange dy) {
  if (dy[1])
    return op.emitOpError("expected a loss that reads the log-sum-exp only "
                          "behind tfm.stop_gradient, found a cotangent of it; "
                          "it has no gradient rule");
  auto grad = tfm::AttentionGradOp::create(
      b, op.getLoc(), op.getQkv().getTypes(), dy[0], op.getOut(), op.getLse(),
      op.getQkv(), op.getDocuments(), op.getSample(), op.getCausalAttr(),
      op.getScaleAttr(), op.getRateAttr(), op.getRngLayerAttr(),
      op.getSiteAttr(), op.getGlobalHeadsAttr());
  Values out(grad.getResults());
  out.resize(op->getNumOperands()); // no gradient of documents and sample
  return out;
}

static ShardingRule attentionGradRule(tfm::AttentionGradOp op) {
  Letters letters = lettersOf(op.getQkv());
  std::vector<std::string> operands = {"bskd", "bskd", "bks"};
  operands.insert(operands.end(), letters.qkv.begin(), letters.qkv.end());
  addOthers(op, operands);
  return {.operands = operands,
          .results = letters.qkv,
          .blocked = letters.blocked,
          .indexed = "k",
          .positions = letters.positions,
          .gathered = "t"};
}

//===--- unfuse, fuse -----------------------------------------------------===//

// A part of the heads is a part of the key heads, with their queries: 'k' has
// another size in q.

static ShardingRule unfuseRule(tfm::UnfuseOp) {
  return {.operands = {"bskgd"},
          .results = {"bskd", "bskd", "bskd"},
          .blocked = "gd",
          .linear = {{0}}};
}

static Values unfuseGradient(OpBuilder &b, tfm::UnfuseOp op, ValueRange dy) {
  Values parts(dy);
  for (auto [part, result] : llvm::zip(parts, op->getResults()))
    if (!part) // nothing reads it
      part = tfm::FillOp::create(b, op.getLoc(), result.getType(),
                                 b.getF64FloatAttr(0.0));
  return {tfm::FuseOp::create(b, op.getLoc(), op.getQkv().getType(), parts[0],
                              parts[1], parts[2])};
}

static ShardingRule fuseRule(tfm::FuseOp) {
  return {.operands = {"bskd", "bskd", "bskd"},
          .results = {"bskgd"},
          .blocked = "gd",
          .linear = {{0, 1, 2}}};
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
  attach<OpFamily::Attention, tfm::UnfuseOp, unfuseRule, unfuseGradient,
         kRowMoves>(context);
  attach<OpFamily::Attention, tfm::FuseOp, fuseRule, kBackwardOp, kRowMoves>(
      context);
}
