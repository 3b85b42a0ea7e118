//===- embedding.cpp - family: table look-up ------------------------------===//
//
// The table's first factor, v, is contracted: each rank adds the rows it has
// and zero for the others, so a split table gives a partial sum.
//
//===----------------------------------------------------------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

static ShardingRule iotaRule(tfm::IotaOp op) {
  std::string all = factors(rankOf(op.getResult()));
  return {.results = {all}, .indexed = all.substr(op.getDim(), 1)};
}

static ShardingRule indexFromRule(tfm::IndexFromOp op) {
  std::string all = factors(rankOf(op.getResult()));
  return {.operands = {all},
          .results = {all},
          .indexed = all.substr(op.getDim(), 1)};
}

/// Row by row an index stays for as many elements as the dimensions behind it
/// have, and begins again behind the last.
static Value indexAlong(BodyContext &c, Operation *op, int64_t dim) {
  auto shape = typeOf(op->getResult(0)).getShape();
  int64_t behind = 1;
  for (int64_t size : shape.drop_front(dim + 1))
    behind *= size;
  Value slice = arith::DivUIOp::create(c.builder, c.loc, c.element(),
                                       c.constantI32(behind));
  Value index = arith::RemUIOp::create(c.builder, c.loc, slice,
                                       c.constantI32(shape[dim]));
  return c.toGlobal(op, index);
}

static Values iotaBody(BodyContext &c, tfm::IotaOp op, ValueRange) {
  return {indexAlong(c, op, op.getDim())};
}

static Values indexFromBody(BodyContext &c, tfm::IndexFromOp op, ValueRange x) {
  return {arith::SubIOp::create(c.builder, c.loc,
                                indexAlong(c, op, op.getDim()), x[0])};
}

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
  attach<OpFamily::Embedding, tfm::IotaOp, iotaRule, noCotangents, iotaBody>(
      context);
  attach<OpFamily::Embedding, tfm::IndexFromOp, indexFromRule, noCotangents,
         indexFromBody>(context);
  attach<OpFamily::Embedding, tfm::EmbedOp, embedRule, embedGradient,
         embedBody>(context);
  attach<OpFamily::Embedding, tfm::EmbedGradOp, embedGradRule, kBackwardOp,
         embedGradBody>(context);
}
