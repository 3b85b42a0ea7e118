//===- embedding.cpp - family: table look-up ------------------------------===//
//
// The table's first factor, v, is contracted: each rank adds the rows it has
// and zero for the others, so a split table gives a partial sum.
//
//===----------------------------------------------------------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

static ShardingRule embedRule(tfm::EmbedOp op) {
  std::string ids = factors(rankOf(op.getIds()));
  return {.operands = {ids, "ve"},
          .results = {ids + "e"},
          .linear = {{1}},
          .masked = "v"};
}

static Values embedGradient(OpBuilder &b, tfm::EmbedOp op, ValueRange dy) {
  return {Value(),
          tfm::EmbedGradOp::create(b, op.getLoc(), op.getTable().getType(),
                                   op.getIds(), dy[0])};
}

static Values embedBody(BodyContext &c, tfm::EmbedOp op, ValueRange x) {
  return {
      c.gather(c.toLocal(op, x[0]), typeOf(op.getTable()).getElementType())};
}

static ShardingRule embedGradRule(tfm::EmbedGradOp op) {
  std::string ids = factors(rankOf(op.getIds()));
  return {.operands = {ids, ids + "e"},
          .results = {"ve"},
          .linear = {{1}},
          .masked = "v"};
}

static Values embedGradBody(BodyContext &c, Operation *op, ValueRange x) {
  c.scatterAdd(c.toLocal(op, x[0]), x[1]);
  return {Value()};
}

void mtc::families::attachEmbedding(MLIRContext *context) {
  attach<tfm::EmbedOp, embedRule, embedGradient, embedBody>(context);
  attach<tfm::EmbedGradOp, embedGradRule, kBackwardOp, embedGradBody>(context);
}
