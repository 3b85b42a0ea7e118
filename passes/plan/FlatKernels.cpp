//===- FlatKernels.cpp - kernels over flat ranges -------------------------===//
#include "passes/plan/FlatKernels.h"

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

rt::KernelOp flatAddKernel(OpBuilder &b, Location loc) {
  Attribute full =
      rt::OperandAttr::get(b.getContext(), rt::Mode::Full, b.getF32Type(), 0);
  SmallVector<Attribute> operands(2, full);
  return flatKernel(b, loc, operands, [&](OpBuilder &inner) {
    Value x = rt::LoadOp::create(inner, loc, inner.getF32Type(), 1);
    rt::AccumulateOp::create(inner, loc, 0, x);
  });
}

} // namespace mtc::passes
