//===- kernel_body.cpp - helpers of body functions ------------------------===//
#include "passes/families/kernel_body.h"

#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

Value BodyContext::constant(double value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
}
Value BodyContext::constantI32(int64_t value) {
  assert(llvm::isUInt<32>(value) && "a number that a kernel cannot count to");
  return arith::ConstantOp::create(
      builder, loc,
      builder.getI32IntegerAttr(
          static_cast<int32_t>(static_cast<uint32_t>(value & 0xffffffff))));
}
Value BodyContext::add(BinaryOperands x) {
  return arith::AddFOp::create(builder, loc, x.a, x.b);
}
Value BodyContext::sub(BinaryOperands x) {
  return arith::SubFOp::create(builder, loc, x.a, x.b);
}
Value BodyContext::mul(BinaryOperands x) {
  return arith::MulFOp::create(builder, loc, x.a, x.b);
}
Value BodyContext::div(BinaryOperands x) {
  return arith::DivFOp::create(builder, loc, x.a, x.b);
}
Value BodyContext::fma(TernaryOperands x) {
  return math::FmaOp::create(builder, loc, x.a, x.b, x.c);
}
Value BodyContext::select(TernaryOperands x) {
  return arith::SelectOp::create(builder, loc, x.a, x.b, x.c);
}
Value BodyContext::equal(BinaryOperands x) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, x.a,
                               x.b);
}
Value BodyContext::lessThan(BinaryOperands x) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, x.a,
                               x.b);
}
Value BodyContext::rowSum(Value v) {
  return rt::RowReduceOp::create(builder, loc, v.getType(), rt::ReduceKind::Sum,
                                 v);
}
Value BodyContext::rowMax(Value v) {
  return rt::RowReduceOp::create(builder, loc, v.getType(), rt::ReduceKind::Max,
                                 v);
}
Value BodyContext::row() {
  return rt::IndexOp::create(builder, loc, builder.getI32Type(),
                             rt::IndexKind::Row);
}
Value BodyContext::col() {
  return rt::IndexOp::create(builder, loc, builder.getI32Type(),
                             rt::IndexKind::Col);
}
Value BodyContext::element() {
  if (perRow)
    return row();
  Value at = row(), width = constantI32(cols);
  Value start = arith::MulIOp::create(builder, loc, at, width);
  return arith::AddIOp::create(builder, loc, start, col());
}

Value BodyContext::arg(const rt::Affine &affine) {
  size_t i = 0;
  while (i < args.size() && !(args[i] == affine))
    ++i;
  if (i == args.size())
    args.push_back(affine);
  return rt::ArgOp::create(builder, loc, builder.getI64Type(), i);
}

/// The sizes of a piece and of the axis that cuts it are known and above 0, so
/// that a kernel may divide by them.
static LogicalResult checkPieces(Operation *op) {
  auto axis = op->getAttrOfType<StringAttr>(pieceAxisAttr);
  auto piece = op->getAttrOfType<IntegerAttr>(pieceAttr);
  if (!axis && !piece)
    return success();
  dist::MeshAttr mesh = dist::meshOf(op);
  if (axis && piece && piece.getInt() > 0 && mesh &&
      splittingAxis(axis.getValue()) && mesh.indexOf(axis) >= 0)
    return success();
  return op->emitOpError("expected ")
         << pieceAxisAttr << ", an axis of the mesh, and " << pieceAttr
         << ", the indices of a piece (1 or more), or neither, found " << axis
         << " and " << piece;
}

LogicalResult mtc::families::checkIndexAxes(Operation *root) {
  bool good = true;
  root->walk([&](Operation *op) {
    good &= succeeded(checkPieces(op));
    auto axis = op->getAttrOfType<StringAttr>(indexAxisAttr);
    if (!axis && op->hasAttr(indexStrideAttr)) {
      good = false;
      op->emitOpError(
          "expected dist.index_axis beside dist.index_stride, found none");
    } else if (axis && !splittingAxis(axis.getValue())) {
      good = false;
      op->emitOpError("expected ") << indexAxisAttr << " to be "
                                   << splittingAxes() << ", found " << axis;
    }
  });
  return success(good);
}

Value BodyContext::shardOffset(Operation *op, int64_t extent) {
  if (!op->hasAttr(indexStrideAttr))
    return {};
  // checkIndexAxes has seen it.
  auto axis = op->getAttrOfType<StringAttr>(indexAxisAttr);
  rt::Affine affine;
  affine[*splittingAxis(axis.getValue())] = extent;
  return arith::TruncIOp::create(builder, loc, builder.getI32Type(),
                                 arg(affine));
}
static int64_t strideOf(Operation *op) {
  auto stride = op->getAttrOfType<IntegerAttr>(indexStrideAttr);
  return stride ? stride.getInt() : 0;
}
Value BodyContext::placePieces(Operation *op, Value at, int64_t unitsPerIndex) {
  auto axis = op->getAttrOfType<StringAttr>(pieceAxisAttr);
  if (!axis)
    return at;
  // checkIndexAxes has seen both.
  int64_t piece =
      op->getAttrOfType<IntegerAttr>(pieceAttr).getInt() * unitsPerIndex;
  MtcAxis along = *splittingAxis(axis.getValue());
  auto [head, tail] =
      pieceOffsets(dist::meshOf(op).sizeOf(axis.getValue()), piece);
  rt::Affine first, further; // of the head; what the tail has beside it
  first.constant = head.start;
  first[along] = head.step;
  further.constant = tail.start - head.start;
  further[along] = tail.step - head.step;
  Type i32 = builder.getI32Type();
  auto given = [&](const rt::Affine &affine) -> Value {
    return arith::TruncIOp::create(builder, loc, i32, arg(affine));
  };
  Value isTail =
      arith::DivUIOp::create(builder, loc, at, constantI32(piece)); // 0 or 1
  Value start = given(first);
  Value more = arith::MulIOp::create(builder, loc, isTail, given(further));
  Value moved = arith::AddIOp::create(builder, loc, at, start);
  return arith::AddIOp::create(builder, loc, moved, more);
}
Value BodyContext::toGlobal(Operation *op, Value localIndex) {
  Value offset = shardOffset(op, strideOf(op));
  Value inPart =
      offset
          ? arith::AddIOp::create(builder, loc, localIndex, offset).getResult()
          : localIndex;
  return placePieces(op, inPart, 1);
}
Value BodyContext::toLocal(Operation *op, Value globalIndex) {
  Value offset = shardOffset(op, strideOf(op));
  return offset ? arith::SubIOp::create(builder, loc, globalIndex, offset)
                      .getResult()
                : globalIndex;
}
Value BodyContext::gather(Value row, Type element) {
  Value found = rt::GatherOp::create(builder, loc, element, tableOperand, row);
  if (rt::isHalf(element))
    return arith::ExtFOp::create(builder, loc, builder.getF32Type(), found);
  return found;
}
void BodyContext::scatterAdd(Value row, Value value) {
  rt::ScatterAddOp::create(builder, loc, tableResult, row, value);
}
