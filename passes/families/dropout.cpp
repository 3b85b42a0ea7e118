//===- dropout.cpp - family: dropout --------------------------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

#include "dialects/dist/Dist.h"
#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

/// Which dimension of a sample is split, and into what.
struct SplitSample {
  int64_t part = 0;  ///< elements behind one index of the dimensions before
  int64_t whole = 0; ///< the same of the unpartitioned tensor
  int64_t unit = 0;  ///< elements of one index of the split dimension
};

/// Nothing split: all 0.
static FailureOr<SplitSample> splitOf(tfm::DropoutOp op) {
  if (!op->hasAttr(indexStrideAttr) && !op->hasAttr(pieceAttr))
    return SplitSample();
  auto dim = op->getAttrOfType<IntegerAttr>(indexDimAttr);
  dist::MeshAttr mesh = dist::meshOf(op);
  auto shape = typeOf(op.getResult()).getShape();
  if (!mesh || !dim || dim.getInt() < 1 ||
      dim.getInt() >= static_cast<int64_t>(shape.size()))
    return op.emitOpError("expected beside dist.index_stride or dist.piece the "
                          "mesh and a dist.index_dim from 1 to ")
           << shape.size() - 1 << ", found " << dim
           << ": elements have the numbers of the whole sample";
  SplitSample split{.unit = 1};
  for (int64_t size : shape.drop_front(dim.getInt() + 1))
    split.unit *= size;
  split.part = split.whole = split.unit * shape[dim.getInt()];
  for (StringRef name : {indexAxisAttr, pieceAxisAttr})
    if (auto axis = op->getAttrOfType<StringAttr>(name))
      split.whole *= mesh.sizeOf(axis);
  return split;
}

/// Adds and multiplies i32, with constants folded in.
struct Numbers {
  BodyContext &c;
  Value times(Value v, int64_t n) const {
    return n == 1 ? v
                  : arith::MulIOp::create(c.builder, c.loc, v, c.constantI32(n))
                        .getResult();
  }
  Value plus(Value v, Value w) const {
    return v ? arith::AddIOp::create(c.builder, c.loc, v, w).getResult() : w;
  }
};

/// The number of the element in the unpartitioned sample. The dimensions before
/// the one that is split cut a sample into equal stretches, of which the rank
/// has a part; where the part's elements lie in the stretch is counted in rows
/// of the kernel if it is the same for a whole row.
static Value elementOfSample(BodyContext &c, tfm::DropoutOp op,
                             const SplitSample &split, Value row) {
  OpBuilder &b = c.builder;
  Numbers n{c};
  auto local = [&] { return n.plus(n.times(row, c.cols), c.col()); };
  if (split.part == 0)
    return local();
  Value stretch; // null: 0
  if (split.part != c.rowsPerSample * c.cols) {
    bool ofRows = split.part % c.cols == 0;
    Value at = ofRows ? row : local();
    int64_t size = ofRows ? split.part / c.cols : split.part;
    stretch = arith::DivUIOp::create(b, c.loc, at, c.constantI32(size));
  }
  int64_t step = split.unit % c.cols == 0 ? c.cols : 1;
  Value at = step == 1 ? local() : row;
  if (stretch)
    at = arith::SubIOp::create(b, c.loc, at,
                               n.times(stretch, split.part / step));
  if (Value before = c.shardOffset(op, split.part / step))
    at = n.plus(at, before);
  at = n.times(c.placePieces(op, at, split.unit / step), step);
  if (step != 1)
    at = n.plus(at, c.col());
  return stretch ? n.plus(n.times(stretch, split.whole), at) : at;
}

/// Keeps an element iff its random word is at least floor(rate·2^32).
static FailureOr<Values> dropoutBody(BodyContext &c, tfm::DropoutOp dropout,
                                     ValueRange x) {
  OpBuilder &b = c.builder;
  FailureOr<SplitSample> split = splitOf(dropout);
  if (failed(split))
    return failure();
  double rate = dropout.getRate().convertToDouble();
  // Row r belongs to sample r / rowsPerSample.
  Value perSample = c.constantI32(c.rowsPerSample);
  Value row = c.row();
  Value sample = arith::DivUIOp::create(b, c.loc, row, perSample);
  Value inSample = arith::RemUIOp::create(b, c.loc, row, perSample);
  Value element = elementOfSample(c, dropout, *split, inSample);
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
