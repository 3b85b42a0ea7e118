//===- Repeat.cpp - what repeats indices, as kernels that move rows -------===//
#include "dialects/tfm/Tfm.h"
#include "passes/families/kernel_body.h"
#include "passes/plan/Calls.h"
#include "passes/plan/RowMoves.h"

using namespace mlir;

namespace mtc::passes {
namespace {

/// The rows of what is repeated ([before, once]) and of what repeats it
/// ([before, many]); a row has the elements of the dimensions behind.
struct Rows {
  int64_t once, many, times, cols = 1, before = 1;

  Rows(ArrayRef<int64_t> shapeOfOnce, int64_t many, int64_t dim, int64_t times)
      : once(shapeOfOnce[dim]), many(many), times(times) {
    for (int64_t size : shapeOfOnce.take_front(dim))
      before *= size;
    for (int64_t size : shapeOfOnce.drop_front(dim + 1))
      cols *= size;
  }
};

/// The kernel's one argument: the index in the whole of the first that this
/// rank has; none where it has them all.
SmallVector<rt::Affine> firstOf(Operation *op, int64_t many) {
  auto axis = op->getAttrOfType<StringAttr>(families::indexAxisAttr);
  if (!axis)
    return {};
  rt::Affine first;
  first[*splittingAxis(axis.getValue())] = many;
  return {first};
}

class RepeatToMoves : public CallPattern<tfm::RepeatOp> {
public:
  using CallPattern::CallPattern;

  LogicalResult matchAndRewrite(tfm::RepeatOp op,
                                PatternRewriter &b) const override {
    RankedTensorType made = op.getResult().getType();
    int64_t dim = op.getDim();
    Rows rows(op.getX().getType().getShape(), made.getDimSize(dim), dim,
              op.getTimes());
    RowsToMake toMake{made, rows.cols, firstOf(op, rows.many)};
    bool isPart = !toMake.arguments.empty();
    auto row = [=](RowArithmetic &a, Value at) {
      Value index = a.modulo(at, rows.many);
      if (isPart)
        index = a.add(index, a.argument(0));
      Value repeated = a.over(index, rows.times);
      Value before = a.over(at, rows.many);
      return a.add(a.times(before, rows.once), repeated);
    };
    RowSource source{op.getX(), rows.before * rows.once, row};
    b.replaceOp(op, moveRows(op, toMake, source, around.pool, b));
    return success();
  }
};

/// Each row is the sum over what this rank has of those that repeat it.
class RepeatGradToMoves : public CallPattern<tfm::RepeatGradOp> {
public:
  using CallPattern::CallPattern;

  LogicalResult matchAndRewrite(tfm::RepeatGradOp op,
                                PatternRewriter &b) const override {
    RankedTensorType made = op.getResult().getType();
    int64_t dim = op.getDim();
    Rows rows(made.getShape(), op.getX().getType().getDimSize(dim), dim,
              op.getTimes());
    RowsToMake toMake{made, rows.cols, firstOf(op, rows.many)};
    bool isPart = !toMake.arguments.empty();
    // Index j of the rank, if that repeats the row to make.
    auto addend = [=](int64_t j) {
      return [=](RowArithmetic &a, Value at) {
        Value index = a.constant(j);
        if (isPart)
          index = a.add(index, a.argument(0));
        Value repeated = a.over(index, rows.times);
        Value minus = a.times(a.modulo(at, rows.once), -1);
        Value isHere = a.isBelow(a.add(repeated, minus), 1);
        Value start = a.times(a.over(at, rows.once), rows.many);
        Value row = a.add(start, a.constant(j));
        return a.where(isHere, row, a.constant(-1));
      };
    };
    RowSource source{op.getX(), rows.before * rows.many, addend(0)};
    for (int64_t j = 1; j < rows.many; ++j)
      source.addends.push_back(addend(j));
    b.replaceOp(op, moveRows(op, toMake, source, around.pool, b));
    return success();
  }
};

} // namespace

void populateRepeatPatterns(RewritePatternSet &patterns,
                            const FragmentContext &around) {
  patterns.add<RepeatToMoves, RepeatGradToMoves>(patterns.getContext(), around);
}

} // namespace mtc::passes
