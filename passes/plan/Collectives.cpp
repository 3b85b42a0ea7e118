//===- Collectives.cpp - dist to kernels and calls ------------------------===//
#include "passes/plan/Collectives.h"

#include "passes/plan/Calls.h"
#include "passes/plan/Empty.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// Row r of what a kernel makes is row
///   (r mod period) · inner + (r / period) · outer + coordinate · rank
/// of what it reads; a row of zeros where there is no such row.
struct RowMap {
  int64_t period = 1, inner = 0, outer = 1, rank = 0;
};

/// A tensor as [before, parts, part]: the dimensions before the one that is
/// split, its parts, and the elements of one part behind each of the former.
struct Blocks {
  int64_t before = 1, parts, part = 1;

  Blocks(RankedTensorType local, int64_t dim, int64_t parts) : parts(parts) {
    for (auto [d, size] : llvm::enumerate(local.getShape()))
      (static_cast<int64_t>(d) < dim ? before : part) *= size;
  }
  RankedTensorType ofRanks(Type element) const {
    return RankedTensorType::get({parts, before, part}, element);
  }
};

/// Writes the calls and kernels of one op.
class Lowering {
public:
  Lowering(Operation *op, MtcGroup group, MtcAxis axis, KernelPool &pool,
           PatternRewriter &b)
      : op(op), group(group), axis(axis), pool(pool), b(b), loc(op->getLoc()) {}

  Value lower(dist::AllReduceOp reduce) { return call(reduce.getX()); }

  Value lower(dist::AllGatherOp gather) {
    Blocks blocks = blocksOf(gather.getX(), gather.getDim());
    RankedTensorType whole = gather.getType();
    bool isOrdered = blocks.before == 1;
    Value placed =
        moveRows(gather.getX(), blocks.before, blocks.part,
                 isOrdered ? whole : blocks.ofRanks(whole.getElementType()),
                 {1, 0, 1, -blocks.before});
    Value all = call(placed);
    return isOrdered ? all
                     : moveRows(all, blocks.parts * blocks.before, blocks.part,
                                whole, {blocks.parts, blocks.before, 1, 0});
  }

  /// Packed also where the parts lie in order, if somebody else reads the
  /// operand: the call overwrites what it works on.
  Value lower(dist::ReduceScatterOp scatter) {
    Value x = scatter.getX();
    RankedTensorType local = scatter.getType();
    Blocks blocks(local, scatter.getDim(), partsAlong(scatter.getDim(), x));
    int64_t rows = blocks.parts * blocks.before;
    if (blocks.before > 1 || !x.hasOneUse())
      x = moveRows(x, rows, blocks.part, blocks.ofRanks(local.getElementType()),
                   {blocks.before, blocks.parts, 1, 0});
    return moveRows(call(x), rows, blocks.part, local,
                    {1, 0, 1, blocks.before});
  }

  Value lower(dist::SliceOp slice) {
    RankedTensorType local = slice.getType();
    Blocks blocks(local, slice.getDim(),
                  partsAlong(slice.getDim(), slice.getX()));
    return moveRows(slice.getX(), blocks.parts * blocks.before, blocks.part,
                    local, {1, 0, blocks.parts, 1});
  }

private:
  /// How often the result's size along a dimension lies in the operand's, or
  /// the reverse.
  int64_t partsAlong(int64_t dim, Value whole) {
    return cast<RankedTensorType>(whole.getType()).getDimSize(dim) /
           cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(dim);
  }
  Blocks blocksOf(Value part, int64_t dim) {
    auto local = cast<RankedTensorType>(part.getType());
    auto whole = cast<RankedTensorType>(op->getResult(0).getType());
    return Blocks(local, dim, whole.getDimSize(dim) / local.getDimSize(dim));
  }

  Value call(Value buffer) {
    CollectiveCall what = *callOf(op);
    auto made = rt::CollectiveOp::create(b, loc, buffer.getType(), what.kind,
                                         buffer, group, what.count);
    auto origin = op->getAttrOfType<dist::OriginAttr>("origin");
    made->setAttr("origin",
                  b.getStringAttr(dist::stringifyOrigin(origin.getValue())));
    made->setAttr("serves", what.serves);
    keepLayer(op, made);
    return made.getResult();
  }

  /// A kernel that makes `type` out of the `rows` rows of `cols` elements of
  /// `x`.
  Value moveRows(Value x, int64_t rows, int64_t cols, RankedTensorType type,
                 const RowMap &map) {
    auto info = [&](rt::Mode mode, int64_t extent) {
      return rt::OperandAttr::get(b.getContext(), mode, type.getElementType(),
                                  extent);
    };
    OpBuilder detached(op->getContext());
    auto kernel = rt::KernelOp::create(
        detached, loc, "k", type.getNumElements() / cols, cols,
        map.rank ? 1 : 0,
        b.getArrayAttr({info(rt::Mode::Table, rows), info(rt::Mode::Full, 0)}));
    OpBuilder body = OpBuilder::atBlockEnd(&kernel.getBody().emplaceBlock());
    Value row = sourceRow(body, map);
    Value found =
        rt::GatherOp::create(body, loc, type.getElementType(), 0, row);
    rt::StoreOp::create(body, loc, 1, found);
    SmallVector<Value> scalars;
    if (map.rank) {
      rt::Affine start;
      start[axis] = map.rank;
      scalars.push_back(
          rt::AffineOp::create(b, loc, b.getI64Type(), start).getResult());
    }
    Value empty = emptyOf(b, loc, type);
    auto launch =
        rt::LaunchOp::create(b, loc, pool.add(kernel), ValueRange{x, empty},
                             scalars, ArrayRef<int64_t>{1});
    launch->setAttr("from", b.getStringAttr(op->getName().stripDialect()));
    keepLayer(op, launch);
    return launch.getResult(0);
  }

  Value sourceRow(OpBuilder &body, const RowMap &map) {
    Type i32 = body.getI32Type();
    Value row = rt::IndexOp::create(body, loc, i32, rt::IndexKind::Row);
    auto constant = [&](int64_t n) -> Value {
      return arith::ConstantOp::create(
          body, loc, body.getI32IntegerAttr(static_cast<int32_t>(n)));
    };
    auto times = [&](Value v, int64_t n) -> Value {
      return n == 1 ? v : arith::MulIOp::create(body, loc, v, constant(n));
    };
    Value found = row;
    if (map.period > 1) {
      Value period = constant(map.period);
      Value inner = arith::RemUIOp::create(body, loc, row, period);
      Value outer = arith::DivUIOp::create(body, loc, row, period);
      found = arith::AddIOp::create(body, loc, times(inner, map.inner),
                                    times(outer, map.outer));
    } else {
      found = times(row, map.outer);
    }
    if (!map.rank)
      return found;
    Value start = rt::ArgOp::create(body, loc, body.getI64Type(), 0);
    start = arith::TruncIOp::create(body, loc, i32, start);
    return arith::AddIOp::create(body, loc, found, start);
  }

  Operation *op;
  MtcGroup group;
  MtcAxis axis;
  KernelPool &pool;
  PatternRewriter &b;
  Location loc;
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
