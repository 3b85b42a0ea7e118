//===- dropout.cpp - family: dropout --------------------------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

/// Keeps an element iff its random word is at least floor(rate·2^32).
static FailureOr<Values> dropoutBody(BodyContext &c, tfm::DropoutOp dropout,
                                     ValueRange x) {
  OpBuilder &b = c.builder;
  // Elements have global numbers. A part of dimension 1 is one behind the other
  // in its sample, parts of further dimensions are not.
  auto dim = dropout->getAttrOfType<IntegerAttr>(indexDimAttr);
  if (dropout->hasAttr(indexStrideAttr) && !(dim && dim.getInt() == 1))
    return dropout.emitOpError(
        "expected only dimensions 0 and 1 split, found dist.index_stride of "
        "another: elements have global numbers, and this kernel would draw "
        "by local ones; keep the other dimensions whole");
  double rate = dropout.getRate().convertToDouble();
  // Row r belongs to sample r / rowsPerSample; inside it, element
  // (r mod rowsPerSample)·cols + column.
  Value perSample = c.constantI32(c.rowsPerSample);
  Value row = c.row();
  Value sample = arith::DivUIOp::create(b, c.loc, row, perSample);
  Value inSample = arith::RemUIOp::create(b, c.loc, row, perSample);
  Value base = arith::MulIOp::create(b, c.loc, inSample, c.constantI32(c.cols));
  if (Value before = c.shardOffset(dropout, c.rowsPerSample * c.cols))
    base = arith::AddIOp::create(b, c.loc, base, before);
  Value element = arith::AddIOp::create(b, c.loc, base, c.col());
  Value wide = arith::ExtUIOp::create(b, c.loc, b.getI64Type(), sample);
  Value id = arith::AddIOp::create(b, c.loc, c.arg(c.sampleBase), wide);
  rt::Affine seed;
  seed[rt::kSeed] = 1;
  // An argument, not a literal: layers share the kernel.
  rt::Affine layer;
  layer.constant = static_cast<int64_t>(dropout.getRngLayer());
  Value seedOf = c.arg(seed), layerOf = c.arg(layer);
  Value word = rt::RandomOp::create(b, c.loc, b.getI32Type(), seedOf, id,
                                    layerOf, element, dropout.getSite());
  auto threshold = static_cast<int64_t>(std::floor(rate * 4294967296.0));
  Value keep = arith::CmpIOp::create(b, c.loc, arith::CmpIPredicate::uge, word,
                                     c.constantI32(threshold));
  Value scaled = c.mul({x[0], c.constant(1.0 / (1.0 - rate))});
  return Values{c.select({keep, scaled, c.constant(0.0)})};
}

static ShardingRule dropoutRule(tfm::DropoutOp op) {
  std::string all = factors(rankOf(op.getResult()));
  return {.operands = {all, ""},
          .results = {all},
          .linear = {{0}},
          .numbered = true};
}

static Values dropoutGradient(OpBuilder &b, Operation *op, ValueRange dy) {
  Operation *copy = b.clone(*op);
  copy->setOperand(0, dy[0]);
  return {copy->getResult(0), Value()};
}

static void dropoutInEval(RewriterBase &rewriter, tfm::DropoutOp op) {
  rewriter.replaceOp(op, op->getOperand(0));
}

void mtc::families::attachDropout(MLIRContext *context) {
  attach<OpFamily::Dropout, tfm::DropoutOp, dropoutRule, dropoutGradient,
         dropoutBody>(context);
  attachEval<tfm::DropoutOp, dropoutInEval>(context);
}
