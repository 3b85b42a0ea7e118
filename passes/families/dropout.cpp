//===- dropout.cpp - family: dropout --------------------------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

#include "dialects/dist/Dist.h"
#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <map>
#include <optional>

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

/// A dimension of a sample that is split, all further ones taken whole. The
/// dimensions before it cut the sample into stretches of `size` indices, of
/// which the rank has a part.
struct SplitDim {
  int64_t dim = 0;
  int64_t unit = 1;      ///< elements of one index
  int64_t part = 1;      ///< elements of the rank's part of a stretch
  int64_t whole = 1;     ///< elements of a stretch
  bool inParts = false;  ///< dist.index_axis splits it
  bool inPieces = false; ///< dist.piece_axis does
};

/// The dimension that an attribute of `op` names, 1 or more; empty beside an
/// error if it names none.
static std::optional<int64_t> dimNamed(tfm::DropoutOp op, StringRef name,
                                       StringRef beside) {
  auto dim = op->getAttrOfType<IntegerAttr>(name);
  int64_t rank = rankOf(op.getResult());
  if (dist::meshOf(op) && dim && dim.getInt() >= 1 && dim.getInt() < rank)
    return dim.getInt();
  op.emitOpError("expected beside ")
      << beside << " the mesh and a " << name << " from 1 to " << rank - 1
      << ", found " << dim << ": elements have the numbers of the whole sample";
  return std::nullopt;
}

/// Split dimensions, the last first.
static FailureOr<SmallVector<SplitDim>> splitsOf(tfm::DropoutOp op) {
  std::map<int64_t, SplitDim, std::greater<>> found;
  if (op->hasAttr(indexStrideAttr)) {
    auto dim = dimNamed(op, indexDimAttr, indexStrideAttr);
    if (!dim)
      return failure();
    found[*dim].inParts = true;
  }
  if (op->hasAttr(pieceAttr)) {
    auto dim = dimNamed(op, pieceDimAttr, pieceAttr);
    if (!dim)
      return failure();
    found[*dim].inPieces = true;
  }
  auto shape = typeOf(op.getResult()).getShape();
  dist::MeshAttr mesh = dist::meshOf(op);
  SmallVector<SplitDim> splits;
  int64_t unit = 1, inner = shape.size();
  for (auto &[dim, split] : found) {
    for (; inner > dim + 1; --inner)
      unit *= shape[inner - 1];
    split.dim = dim;
    split.unit = unit;
    split.part = split.whole = unit * shape[dim];
    for (auto [isSplit, name] : {std::pair(split.inParts, indexAxisAttr),
                                 std::pair(split.inPieces, pieceAxisAttr)})
      if (isSplit)
        split.whole *= mesh.sizeOf(op->getAttrOfType<StringAttr>(name));
    unit = split.whole;
    --inner;
    splits.push_back(split);
  }
  return splits;
}

/// The number of an element in the unpartitioned sample, made of that in the
/// rank's: dimension after dimension is widened. As long as it is the same for
/// a whole row of the kernel, rows are counted.
class ElementNumber {
public:
  ElementNumber(BodyContext &c, tfm::DropoutOp op, Value row)
      : c(c), op(op), at(row), step(c.cols), all(c.rowsPerSample * c.cols) {}

  void widen(const SplitDim &split) {
    Value stretch = stretchOf(split); // null: there is one
    if (step != 1 && split.unit % step != 0)
      toElements();
    if (stretch)
      at = arith::SubIOp::create(c.builder, c.loc, at,
                                 times(stretch, split.part / step));
    if (split.inParts)
      at = plus(at, c.shardOffset(op, split.part / step));
    if (split.inPieces)
      at = c.placePieces(op, at, split.unit / step);
    if (stretch)
      at = plus(at, times(stretch, split.whole / step));
    all = all / split.part * split.whole;
  }

  Value element() {
    toElements();
    return at;
  }

  /// Numbers are 32-bit integers.
  bool isExact() const { return all <= int64_t(1) << 32; }

private:
  Value times(Value v, int64_t n) {
    return n == 1 ? v
                  : arith::MulIOp::create(c.builder, c.loc, v, c.constantI32(n))
                        .getResult();
  }
  Value plus(Value v, Value w) {
    return arith::AddIOp::create(c.builder, c.loc, v, w);
  }
  Value over(Value v, int64_t n) {
    return arith::DivUIOp::create(c.builder, c.loc, v, c.constantI32(n));
  }

  Value stretchOf(const SplitDim &split) {
    if (split.part == all)
      return {};
    if (split.part % step != 0)
      toElements();
    return over(at, split.part / step);
  }

  void toElements() {
    if (!inRows)
      return;
    at = plus(times(at, step), c.col());
    step = 1;
    inRows = false;
  }

  BodyContext &c;
  tfm::DropoutOp op;
  Value at;           ///< in units of `step` elements
  int64_t step;       ///< the columns of a row, or 1
  int64_t all;        ///< elements of the sample
  bool inRows = true; ///< the column is still to be added
};

/// Keeps an element iff its random word is at least floor(rate·2^32).
static FailureOr<Values> dropoutBody(BodyContext &c, tfm::DropoutOp dropout,
                                     ValueRange x) {
  OpBuilder &b = c.builder;
  FailureOr<SmallVector<SplitDim>> splits = splitsOf(dropout);
  if (failed(splits))
    return failure();
  double rate = dropout.getRate().convertToDouble();
  // Row r belongs to sample r / rowsPerSample.
  Value perSample = c.constantI32(c.rowsPerSample);
  Value row = c.row();
  Value sample = arith::DivUIOp::create(b, c.loc, row, perSample);
  Value inSample = arith::RemUIOp::create(b, c.loc, row, perSample);
  ElementNumber number(c, dropout, inSample);
  for (const SplitDim &split : *splits)
    number.widen(split);
  if (!number.isExact())
    return dropout.emitError(
        "expected at most 2^32 elements of a sample, each with a random word "
        "of its own; shorten samples");
  Value element = number.element();
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
