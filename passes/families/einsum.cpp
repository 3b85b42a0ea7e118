//===- einsum.cpp - family: contractions ----------------------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

void mtc::families::registerEinsum() {
  OpFamily f;
  f.rule = [](Operation *op) {
    tfm::Equation eq;
    tfm::parseEquation(cast<tfm::EinsumOp>(op).getEquation(), eq);
    return ShardingRule{
        {eq.lhs, eq.rhs}, {eq.result}, "", {{0}, {1}}, false, "", false};
  };
  // Every letter stands in exactly two of the three tensors, so the gradient of
  // one operand is the contraction of the other two.
  f.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    auto einsum = cast<tfm::EinsumOp>(op);
    tfm::Equation eq;
    tfm::parseEquation(einsum.getEquation(), eq);
    Value lhs = einsum.getLhs(), rhs = einsum.getRhs();
    Value dl = tfm::EinsumOp::create(b, op->getLoc(), lhs.getType(),
                                     eq.result + "," + eq.rhs + "->" + eq.lhs,
                                     dy[0], rhs);
    Value dr = tfm::EinsumOp::create(b, op->getLoc(), rhs.getType(),
                                     eq.lhs + "," + eq.result + "->" + eq.rhs,
                                     lhs, dy[0]);
    return SmallVector<Value>{dl, dr};
  };
  f.widens = true;
  f.noBody = "a contraction is a GEMM (rt.gemm), not a row-wise kernel";
  add(tfm::EinsumOp::getOperationName(), f);
}
