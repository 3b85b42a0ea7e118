//===- RtVerify.cpp - verifiers of the rt dialect -------------------------===//
#include "dialects/rt/Rt.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mtc::rt;

/// Checks that `operand` names an operand of the kernel whose mode is allowed.
static LogicalResult checkOperand(KernelOp kernel, Operation *op,
                                  int64_t operand, ArrayRef<Mode> allowed,
                                  Type value) {
  auto infos = kernel.getOperandsInfo();
  if (operand < 0 || operand >= static_cast<int64_t>(infos.size()))
    return op->emitOpError("expected an operand index below ")
           << infos.size() << ", found " << operand;
  auto info = cast<OperandAttr>(infos[operand]);
  if (!llvm::is_contained(allowed, info.getMode())) {
    auto diag = op->emitOpError("expected an operand of mode ");
    llvm::interleaveComma(allowed, diag,
                          [&](Mode m) { diag << stringifyMode(m); });
    return diag << ", found " << stringifyMode(info.getMode());
  }
  if (value && info.getElement() != value)
    return op->emitOpError("expected a value of the operand's type ")
           << info.getElement() << ", found " << value;
  return success();
}

LogicalResult KernelOp::verify() {
  auto rows = static_cast<int64_t>(getRows()),
       cols = static_cast<int64_t>(getCols());
  if (rows < 1 || (cols < 1 && cols != -1))
    return emitOpError("expected rows >= 1 and cols >= 1 or -1, found ")
           << rows << " x " << cols;
  if (cols == -1 && rows != 1)
    return emitOpError("expected 1 row where cols is dynamic, found ") << rows;
  for (Operation &op : getBody().front()) {
    StringRef dialect = op.getDialect() ? op.getDialect()->getNamespace() : "";
    if (dialect != "arith" && dialect != "math" && dialect != "rt")
      return op.emitOpError("expected only arith, math and rt ops in a kernel");
    LogicalResult ok = success();
    if (auto o = dyn_cast<LoadOp>(op))
      ok = checkOperand(
          *this, o, o.getOperand(),
          {Mode::Full, Mode::Row, Mode::Col, Mode::Scalar, Mode::Periodic},
          o.getResult().getType());
    else if (auto o = dyn_cast<StoreOp>(op))
      ok = checkOperand(*this, o, o.getOperand(), {Mode::Full, Mode::Row},
                        o.getValue().getType());
    else if (auto o = dyn_cast<AccumulateOp>(op))
      ok = checkOperand(
          *this, o, o.getOperand(),
          {Mode::Full, Mode::Row, Mode::Col, Mode::Scalar, Mode::Periodic},
          o.getValue().getType());
    else if (auto o = dyn_cast<GatherOp>(op))
      ok = checkOperand(*this, o, o.getOperand(), {Mode::Table},
                        o.getResult().getType());
    else if (auto o = dyn_cast<ScatterAddOp>(op))
      ok = checkOperand(*this, o, o.getOperand(), {Mode::Table},
                        o.getValue().getType());
    else if (auto o = dyn_cast<ArgOp>(op)) {
      if (o.getIndex() >= getArgs())
        ok = o.emitOpError("expected an argument index below ")
             << getArgs() << ", found " << o.getIndex();
    }
    if (failed(ok))
      return failure();
  }
  return success();
}

LogicalResult ViewOp::verify() {
  if (getArena() >= 5)
    return emitOpError("expected an arena below 5, found ") << getArena();
  auto pool = static_cast<int64_t>(getPool()); // attribute getters are unsigned
  if (pool < -1 || pool >= 6)
    return emitOpError("expected a pool in -1..5, found ") << pool;
  return success();
}

LogicalResult LaunchOp::verify() {
  if (!getOutputs().empty() && getWrites().size() != getOutputs().size())
    return emitOpError("expected one entry of writes per result (")
           << getOutputs().size() << "), found " << getWrites().size();
  return success();
}

LogicalResult GemmOp::verify() {
  auto element = [](Value v) {
    return cast<ShapedType>(v.getType()).getElementType();
  };
  if (element(getA()) != element(getB()))
    return emitOpError("expected a and b of one element type, found ")
           << getA().getType() << " and " << getB().getType();
  Value out = getC() ? getC() : getResult();
  if (out && !element(out).isF32() &&
      (getBeta() || element(out) != element(getA())))
    return emitOpError("expected the product in f32")
           << (getBeta() ? ", into which it is added"
                         : " or in the operands' type")
           << ", found " << out.getType();
  auto count = [](Value v) {
    return cast<ShapedType>(v.getType()).getNumElements();
  };
  auto expect = [&](StringRef what, Value v,
                    int64_t elements) -> LogicalResult {
    if (!v || count(v) == elements)
      return success();
    return emitOpError("expected ")
           << what << " of " << elements << " elements, found " << v.getType();
  };
  if (failed(expect("a", getA(), getM() * getK())) ||
      failed(expect("b", getB(), getK() * getN())) ||
      failed(expect("c", getC(), getM() * getN())))
    return failure();
  return expect("result", getResult(), getM() * getN());
}
