//===- Attention.cpp - attention as a call --------------------------------===//
#include "dialects/tfm/Tfm.h"
#include "passes/families/kernel_body.h"
#include "passes/plan/Calls.h"
#include "passes/plan/Empty.h"
#include "passes/plan/RowMoves.h"

using namespace mlir;

namespace mtc::passes {
namespace {

/// The first head of this rank: the number of its heads times its coordinate
/// on the axis that splits them.
rt::Affine firstHead(Operation *op, Value out) {
  rt::Affine head;
  if (auto axis = op->getAttrOfType<StringAttr>(families::indexAxisAttr))
    head[*splittingAxis(axis.getValue())] =
        cast<ShapedType>(out.getType()).getDimSize(2);
  return head;
}

/// Where the two halves of this rank's queries begin; none if it has them all.
SmallVector<rt::Affine> positionsOf(Operation *op) {
  auto axis = op->getAttrOfType<StringAttr>(families::pieceAxisAttr);
  if (!axis)
    return {};
  int64_t piece = op->getAttrOfType<IntegerAttr>(families::pieceAttr).getInt();
  SmallVector<rt::Affine> positions;
  int64_t local = 0; // the half's first query on this rank
  for (const PieceOffset &offset :
       pieceOffsets(dist::meshOf(op).sizeOf(axis.getValue()), piece)) {
    rt::Affine position;
    position.constant = local + offset.start;
    position[*splittingAxis(axis.getValue())] = offset.step;
    positions.push_back(position);
    local += piece;
  }
  return positions;
}

/// The runtime makes the sample's id out of coordinates: the operand goes.
template <typename Op> class AttentionToCall : public CallPattern<Op> {
public:
  using CallPattern<Op>::CallPattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    auto value = [&](const rt::Affine &a) {
      return rt::AffineOp::create(b, op.getLoc(), b.getI64Type(), a);
    };
    Value head = value(firstHead(op, op.getOut()));
    Value sample = value(this->around.firstSampleOf(op->getResult(0)));
    SmallVector<Value> positions;
    for (const rt::Affine &position : positionsOf(op))
      positions.push_back(value(position));
    bool backward = std::is_same_v<Op, tfm::AttentionGradOp>;
    SmallVector<Value> inits;
    for (Type type : op->getResultTypes())
      inits.push_back(emptyOf(b, op.getLoc(), type));
    size_t others = op.getDocuments() ? 2 : 1; // and the sample
    auto made = rt::AttentionOp::create(
        b, op.getLoc(), op->getResultTypes(),
        op->getOperands().drop_back(others), op.getDocuments(), inits, Value(),
        sample, head, positions, b.getBoolAttr(backward), op.getCausalAttr(),
        op.getScaleAttr(), op.getRateAttr(), op.getRngLayerAttr(),
        op.getSiteAttr(), op.getGlobalHeadsAttr());
    keepLayer(op, made);
    b.replaceOp(op, made.getOutputs());
    return success();
  }
};

/// Each of the parts out of the rows [batch, seq, kv_heads, stack] of the fused
/// tensor; a part has its heads behind each other, the first at `first`.
class UnfuseToMoves : public CallPattern<tfm::UnfuseOp> {
public:
  using CallPattern::CallPattern;

  LogicalResult matchAndRewrite(tfm::UnfuseOp op,
                                PatternRewriter &b) const override {
    ArrayRef<int64_t> shape = op.getQkv().getType().getShape();
    int64_t stack = shape[3], cols = shape[4];
    int64_t rows = op.getQkv().getType().getNumElements() / cols;
    auto part = [&](Value made, int64_t first, int64_t heads) {
      auto row = [=](RowArithmetic &a, Value at) {
        Value inStack = a.modulo(at, heads);
        Value start = a.times(a.over(at, heads), stack);
        Value here = a.add(start, inStack);
        return first ? a.add(here, a.constant(first)) : here;
      };
      return moveRows(op, {cast<RankedTensorType>(made.getType()), cols},
                      RowSource{op.getQkv(), rows, row}, around.pool, b);
    };
    Value q = part(op.getQ(), 0, stack - 2);
    Value k = part(op.getK(), stack - 2, 1);
    Value v = part(op.getV(), stack - 1, 1);
    b.replaceOp(op, {q, k, v});
    return success();
  }
};

class FuseToMoves : public CallPattern<tfm::FuseOp> {
public:
  using CallPattern::CallPattern;

  LogicalResult matchAndRewrite(tfm::FuseOp op,
                                PatternRewriter &b) const override {
    ArrayRef<int64_t> shape = op.getQkv().getType().getShape();
    int64_t stack = shape[3], cols = shape[4];
    auto part = [&](Value x, int64_t heads, int64_t end) {
      auto row = [=](RowArithmetic &a, Value at) {
        Value group = a.over(at, stack);
        if (heads == 1)
          return group;
        Value inStack = a.modulo(at, stack);
        return a.add(a.times(group, heads), inStack);
      };
      auto isHere = [=](RowArithmetic &a, Value at) {
        return a.isBelow(a.modulo(at, stack), end);
      };
      int64_t rows = cast<RankedTensorType>(x.getType()).getNumElements();
      return RowSource{x, rows / cols, row, isHere};
    };
    RowSource sources[] = {part(op.getQ(), stack - 2, stack - 2),
                           part(op.getK(), 1, stack - 1),
                           part(op.getV(), 1, stack)};
    b.replaceOp(op, moveRows(op, {op.getQkv().getType(), cols}, sources,
                             around.pool, b));
    return success();
  }
};

} // namespace

void populateAttentionPatterns(RewritePatternSet &patterns,
                               const FragmentContext &around) {
  patterns
      .add<AttentionToCall<tfm::AttentionOp>,
           AttentionToCall<tfm::AttentionGradOp>, UnfuseToMoves, FuseToMoves>(
          patterns.getContext(), around);
}

} // namespace mtc::passes
