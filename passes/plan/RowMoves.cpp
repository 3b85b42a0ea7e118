//===- RowMoves.cpp - kernels that move rows ------------------------------===//
#include "passes/plan/RowMoves.h"

#include "passes/plan/Calls.h"
#include "passes/plan/Empty.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace mtc::passes {

Value RowArithmetic::constant(int64_t n) {
  return arith::ConstantOp::create(
      b, loc, b.getI32IntegerAttr(static_cast<int32_t>(n)));
}
Value RowArithmetic::times(Value v, int64_t n) {
  return n == 1 ? v : times(v, constant(n));
}
Value RowArithmetic::times(Value v, Value w) {
  return arith::MulIOp::create(b, loc, v, w);
}
Value RowArithmetic::add(Value v, Value w) {
  return arith::AddIOp::create(b, loc, v, w);
}
Value RowArithmetic::over(Value v, int64_t n) {
  return arith::DivUIOp::create(b, loc, v, constant(n));
}
Value RowArithmetic::modulo(Value v, int64_t n) {
  return arith::RemUIOp::create(b, loc, v, constant(n));
}
Value RowArithmetic::isBelow(Value v, int64_t n) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, v,
                               constant(n));
}
Value RowArithmetic::where(Value condition, Value v, Value w) {
  return arith::SelectOp::create(b, loc, condition, v, w);
}
Value RowArithmetic::argument(int64_t index) {
  Value wide = rt::ArgOp::create(b, loc, b.getI64Type(), index);
  return arith::TruncIOp::create(b, loc, b.getI32Type(), wide);
}

/// The row of a source, or the sum of several.
static Value readSource(OpBuilder &b, Location loc, Type element, int64_t index,
                        const RowSource &source, Value row) {
  RowArithmetic arithmetic(b, loc);
  auto read = [&](auto &rowToRead) -> Value {
    return rt::GatherOp::create(b, loc, element, index,
                                rowToRead(arithmetic, row));
  };
  Value found = read(source.row);
  if (source.addends.empty())
    return found;
  auto widened = [&](Value v) -> Value {
    return element.isF32()
               ? v
               : arith::ExtFOp::create(b, loc, b.getF32Type(), v).getResult();
  };
  Value sum = widened(found);
  for (auto &rowToRead : source.addends) {
    Value addend = widened(read(rowToRead));
    sum = arith::AddFOp::create(b, loc, sum, addend);
  }
  return element.isF32()
             ? sum
             : arith::TruncFOp::create(b, loc, element, sum).getResult();
}

/// The body: the row of the first source that has it, written to the operand
/// behind the sources.
static void writeBody(OpBuilder &b, Location loc, Type element,
                      ArrayRef<RowSource> sources) {
  RowArithmetic arithmetic(b, loc);
  Value row = rt::IndexOp::create(b, loc, b.getI32Type(), rt::IndexKind::Row);
  Value found;
  for (int64_t i = static_cast<int64_t>(sources.size()); i-- > 0;) {
    Value here = readSource(b, loc, element, i, sources[i], row);
    if (found) {
      Value isHere = sources[i].isHere(arithmetic, row);
      here = arith::SelectOp::create(b, loc, isHere, here, found);
    }
    found = here;
  }
  rt::StoreOp::create(b, loc, sources.size(), found);
}

Value moveRows(Operation *op, const RowsToMake &made,
               ArrayRef<RowSource> sources, KernelPool &pool,
               PatternRewriter &b) {
  Location loc = op->getLoc();
  Type element = made.type.getElementType();
  auto info = [&](rt::Mode mode, int64_t extent) -> Attribute {
    return rt::OperandAttr::get(b.getContext(), mode, element, extent);
  };
  SmallVector<Attribute> infos;
  SmallVector<Value> buffers, scalars;
  for (const RowSource &source : sources) {
    infos.push_back(info(rt::Mode::Table, source.rows));
    buffers.push_back(source.tensor);
  }
  infos.push_back(info(rt::Mode::Full, 0));
  OpBuilder detached(op->getContext());
  auto kernel = rt::KernelOp::create(
      detached, loc, "k", made.type.getNumElements() / made.cols, made.cols,
      static_cast<int64_t>(made.arguments.size()), b.getArrayAttr(infos));
  OpBuilder body = OpBuilder::atBlockEnd(&kernel.getBody().emplaceBlock());
  writeBody(body, loc, element, sources);
  for (const rt::Affine &argument : made.arguments)
    scalars.push_back(rt::AffineOp::create(b, loc, b.getI64Type(), argument));
  buffers.push_back(emptyOf(b, loc, made.type));
  auto launch = rt::LaunchOp::create(
      b, loc, pool.add(kernel), buffers, scalars,
      ArrayRef<int64_t>{static_cast<int64_t>(sources.size())});
  launch->setAttr("from", b.getStringAttr(op->getName().stripDialect()));
  keepLayer(op, launch);
  return launch.getResult(0);
}

} // namespace mtc::passes
