//===- FlatKernels.cpp - kernels over flat ranges -------------------------===//
#include "passes/plan/FlatKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mtc::passes {

rt::KernelOp flatKernel(OpBuilder &b, Location loc,
                        SmallVector<Attribute> &operands,
                        llvm::function_ref<void(OpBuilder &)> fill) {
  OpBuilder inner(b.getContext());
  Block *body = new Block();
  inner.setInsertionPointToEnd(body);
  fill(inner);
  OpBuilder detached(b.getContext());
  auto kernel = rt::KernelOp::create(detached, loc, "k", 1, -1, 0,
                                     b.getArrayAttr(operands));
  kernel.getBody().push_back(body);
  return kernel;
}

Value loadWide(OpBuilder &b, Location loc, Type element, int64_t operand) {
  Value x = rt::LoadOp::create(b, loc, element, operand);
  return element.isF32()
             ? x
             : arith::ExtFOp::create(b, loc, b.getF32Type(), x).getResult();
}

rt::KernelOp flatAddKernel(OpBuilder &b, Location loc, Type element) {
  Attribute full =
      rt::OperandAttr::get(b.getContext(), rt::Mode::Full, element, 0);
  SmallVector<Attribute> operands(2, full);
  return flatKernel(b, loc, operands, [&](OpBuilder &inner) {
    rt::AccumulateOp::create(inner, loc, 0, loadWide(inner, loc, element, 1));
  });
}

} // namespace mtc::passes
