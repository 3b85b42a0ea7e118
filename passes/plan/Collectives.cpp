//===- Collectives.cpp - dist to kernels and calls ------------------------===//
#include "passes/plan/Collectives.h"

#include "passes/plan/Calls.h"
#include "passes/plan/RowMoves.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mtc::passes {

static int64_t elementsOf(Value v) {
  return cast<ShapedType>(v.getType()).getNumElements();
}

std::optional<CollectiveCall> callOf(Operation *op) {
  using Call = std::optional<CollectiveCall>;
  return TypeSwitch<Operation *, Call>(op)
      .Case([](dist::AllReduceOp reduce) -> Call {
        bool isMax = reduce.getKind() == dist::ReduceKind::Max;
        return CollectiveCall{isMax ? rt::CollectiveKind::AllReduceMax
                                    : rt::CollectiveKind::AllReduce,
                              reduce.getAxis(), elementsOf(reduce.getX()),
                              reduce.getServesAttr()};
      })
      .Case([](dist::ReduceScatterOp scatter) -> Call {
        return CollectiveCall{
            rt::CollectiveKind::ReduceScatter, scatter.getAxis(),
            elementsOf(scatter.getResult()), scatter.getServesAttr()};
      })
      .Case([](dist::AllGatherOp gather) -> Call {
        return CollectiveCall{rt::CollectiveKind::AllGather, gather.getAxis(),
                              elementsOf(gather.getX()),
                              gather.getServesAttr()};
      })
      .Default([](Operation *) -> Call { return std::nullopt; });
}

namespace {

/// A tensor as [before, parts, part]: the dimensions before the one that is
/// split, its parts, and the elements of one part behind each of the former. An
/// axis that cuts a head and a tail makes two parts of each rank's.
struct Blocks {
  int64_t before = 1, parts, part = 1;

  Blocks(RankedTensorType local, int64_t dim, int64_t parts) : parts(parts) {
    for (auto [d, size] : llvm::enumerate(local.getShape()))
      (static_cast<int64_t>(d) < dim ? before : part) *= size;
  }
  int64_t rows() const { return parts * before; }
  RankedTensorType ofRanks(Type element) const {
    return RankedTensorType::get({parts, before, part}, element);
  }
};

/// Writes the calls and kernels of one op. Buffers of calls are [ranks, before,
/// parts of a rank, part].
class Lowering {
public:
  Lowering(Operation *op, MtcGroup group, MtcAxis axis, KernelPool &pool,
           PatternRewriter &b)
      : op(op), group(group), axis(axis), each(kAxes[axis].headAndTail ? 2 : 1),
        pool(pool), b(b) {}

  Value lower(dist::AllReduceOp reduce) { return call(reduce.getX()); }

  Value lower(dist::AllGatherOp gather) {
    RankedTensorType whole = gather.getType();
    Blocks blocks = blocksOf(gather.getX().getType(), whole, gather.getDim());
    bool isOrdered = blocks.before == 1 && each == 1;
    Value placed =
        move(gather.getX(), blocks.rows() / ranks, blocks.part,
             isOrdered ? whole : blocks.ofRanks(whole.getElementType()),
             -blocks.rows() / ranks, sameRow);
    Value all = call(placed);
    if (isOrdered)
      return all;
    return move(all, blocks.rows(), blocks.part, whole, 0,
                [=, this](RowArithmetic &a, Value row) {
                  return gatheredRow(a, row, blocks);
                });
  }

  /// Packed also where the parts lie in order, if somebody else reads the
  /// operand: the call overwrites what it works on.
  Value lower(dist::ReduceScatterOp scatter) {
    Value x = scatter.getX();
    RankedTensorType local = scatter.getType();
    Blocks blocks = blocksOf(local, x.getType(), scatter.getDim());
    if (blocks.before > 1 || each > 1 || !x.hasOneUse())
      x = move(x, blocks.rows(), blocks.part,
               blocks.ofRanks(local.getElementType()), 0,
               [=, this](RowArithmetic &a, Value row) {
                 return packedRow(a, row, blocks);
               });
    return move(call(x), blocks.rows(), blocks.part, local,
                blocks.rows() / ranks, sameRow);
  }

  Value lower(dist::SliceOp slice) {
    RankedTensorType local = slice.getType();
    Blocks blocks = blocksOf(local, slice.getX().getType(), slice.getDim());
    return move(slice.getX(), blocks.rows(), blocks.part, local, 1,
                [=, this](RowArithmetic &a, Value row) {
                  return slicedRow(a, row, blocks);
                });
  }

private:
  /// Of the dimension `dim`, of which `part` has a rank's part.
  Blocks blocksOf(Type part, Type whole, int64_t dim) {
    auto local = cast<RankedTensorType>(part);
    ranks =
        cast<RankedTensorType>(whole).getDimSize(dim) / local.getDimSize(dim);
    SmallVector<int64_t> shape(local.getShape());
    shape[dim] /= each;
    return Blocks(local.clone(shape), dim, ranks * each);
  }

  //===--- which row is read ----------------------------------------------===//

  static Value sameRow(RowArithmetic &, Value row) { return row; }

  /// Row [before, parts] of the whole, in the buffer of the call.
  Value gatheredRow(RowArithmetic &a, Value row, const Blocks &blocks) {
    Value part = a.modulo(row, blocks.parts);
    Value before = a.over(row, blocks.parts);
    if (each == 1)
      return a.add(a.times(part, blocks.before), before);
    // Of a tail part = half + start + step·rank, and step is -1.
    auto [head, tail] = pieceOffsets(ranks, 1);
    Value half = a.over(part, ranks);
    Value twice = a.times(part, -2);
    Value back = a.add(twice, a.constant(1 + tail.start));
    Value further = a.times(half, back);
    Value rank = a.add(part, further);
    Value ofRank = a.times(rank, 2 * blocks.before);
    Value ofBefore = a.times(before, 2);
    Value start = a.add(ofRank, ofBefore);
    return a.add(start, half);
  }

  /// Row of the buffer of the call, in the whole.
  Value packedRow(RowArithmetic &a, Value row, const Blocks &blocks) {
    if (each == 1) {
      Value before = a.modulo(row, blocks.before);
      Value rank = a.over(row, blocks.before);
      return a.add(a.times(before, blocks.parts), rank);
    }
    Value half = a.modulo(row, 2);
    Value rest = a.over(row, 2);
    Value before = a.modulo(rest, blocks.before);
    Value rank = a.over(rest, blocks.before);
    Value part = partOf(a, rank, half);
    return a.add(a.times(before, blocks.parts), part);
  }

  /// Row of a rank's part, in the whole: behind the coordinate, which comes to
  /// what this gives.
  Value slicedRow(RowArithmetic &a, Value row, const Blocks &blocks) {
    if (each == 1)
      return a.times(row, blocks.parts);
    Value half = a.modulo(row, 2);
    Value before = a.over(row, 2);
    Value own = a.argument(0);
    Value part = partOf(a, own, half);
    Value withoutOwn = a.add(part, a.times(own, -1));
    return a.add(a.times(before, blocks.parts), withoutOwn);
  }

  /// The part that is half `half` of a rank's.
  Value partOf(RowArithmetic &a, Value rank, Value half) {
    auto [head, tail] = pieceOffsets(ranks, 1);
    Value ofTail = a.times(rank, tail.step - head.step);
    Value further = a.add(ofTail, a.constant(1 + tail.start - head.start));
    Value more = a.times(half, further);
    return a.add(a.times(rank, head.step), more);
  }

  //===--- calls and kernels ----------------------------------------------===//

  Value call(Value buffer) {
    CollectiveCall what = *callOf(op);
    auto made = rt::CollectiveOp::create(b, op->getLoc(), buffer.getType(),
                                         what.kind, buffer, group, what.count);
    auto origin = op->getAttrOfType<dist::OriginAttr>("origin");
    made->setAttr("origin",
                  b.getStringAttr(dist::stringifyOrigin(origin.getValue())));
    made->setAttr("serves", what.serves);
    keepLayer(op, made);
    return made.getResult();
  }

  /// A kernel that makes `type` out of the `rows` rows of `cols` elements of
  /// `x`; `perRank` times the coordinate comes to the row that `source` gives.
  template <typename Source>
  Value move(Value x, int64_t rows, int64_t cols, RankedTensorType type,
             int64_t perRank, Source source) {
    RowsToMake made{type, cols};
    if (perRank)
      made.arguments.emplace_back()[axis] = perRank;
    auto row = [&](RowArithmetic &a, Value at) {
      Value from = source(a, at);
      return perRank ? a.add(from, a.argument(0)) : from;
    };
    return moveRows(op, made, RowSource{x, rows, row}, pool, b);
  }

  Operation *op;
  MtcGroup group;
  MtcAxis axis;
  int64_t each;      ///< parts of a rank
  int64_t ranks = 1; ///< of the axis
  KernelPool &pool;
  PatternRewriter &b;
};

/// One op of dist as its call and kernels.
template <typename Op> class CollectiveToCalls : public CallPattern<Op> {
public:
  using CallPattern<Op>::CallPattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    std::optional<MtcGroup> group = groupNamed(op.getAxis());
    std::optional<MtcAxis> axis = splittingAxis(op.getAxis());
    if (!group || !axis)
      return b.notifyMatchFailure(op, "the axis splits no tensors");
    b.replaceOp(op,
                Lowering(op, *group, *axis, this->around.pool, b).lower(op));
    return success();
  }
};

} // namespace

LogicalResult checkCollective(Operation *op) {
  if (!isa<dist::AllReduceOp, dist::AllGatherOp, dist::ReduceScatterOp,
           dist::SliceOp>(op))
    return op->emitOpError("expected a collective or a slice over one axis, "
                           "which partition makes");
  auto axis = op->getAttrOfType<StringAttr>("axis");
  if (!groupNamed(axis.getValue()) || !splittingAxis(axis.getValue()))
    return op->emitOpError("expected an axis that splits tensors (")
           << splittingAxes() << "), found " << axis;
  return success();
}

void populateCollectivePatterns(RewritePatternSet &patterns,
                                const FragmentContext &around) {
  patterns.add<CollectiveToCalls<dist::AllReduceOp>,
               CollectiveToCalls<dist::AllGatherOp>,
               CollectiveToCalls<dist::ReduceScatterOp>,
               CollectiveToCalls<dist::SliceOp>>(patterns.getContext(), around);
}

} // namespace mtc::passes
