//===- embedding.cpp - family: table look-up ------------------------------===//
//
// The table's first letter, v, is contracted: each rank adds the rows it has
// and zero for the others, so a split table gives a partial sum.
//
//===----------------------------------------------------------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

void mtc::families::registerEmbedding() {
  OpFamily f;
  f.rule = [](Operation *op) {
    std::string ids = letters(rankOf(op->getOperand(0)));
    return ShardingRule{{ids, "ve"}, {ids + "e"}, "", {{1}}, false, "v", false};
  };
  f.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    auto embed = cast<tfm::EmbedOp>(op);
    return SmallVector<Value>{
        Value(),
        tfm::EmbedGradOp::create(b, op->getLoc(), embed.getTable().getType(),
                                 embed.getIds(), dy[0])};
  };
  f.body = [](BodyContext &c, Operation *op,
              ValueRange x) -> SmallVector<Value> {
    return {c.gather(c.toLocal(op, x[0]),
                     typeOf(op->getOperand(1)).getElementType())};
  };
  add(tfm::EmbedOp::getOperationName(), f);

  OpFamily g;
  g.rule = [](Operation *op) {
    std::string ids = letters(rankOf(op->getOperand(0)));
    return ShardingRule{{ids, ids + "e"}, {"ve"}, "", {{1}}, false, "v", false};
  };
  g.noGradient = "a backward op; second derivatives are not taken";
  g.body = [](BodyContext &c, Operation *op,
              ValueRange x) -> SmallVector<Value> {
    c.scatterAdd(c.toLocal(op, x[0]), x[1]);
    return {Value()};
  };
  g.widens = true;
  add(tfm::EmbedGradOp::getOperationName(), g);
}
