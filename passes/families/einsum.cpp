//===- einsum.cpp - family: contractions ----------------------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

static ShardingRule einsumRule(tfm::EinsumOp op) {
  tfm::Equation eq;
  tfm::parseEquation(op.getEquation(), eq);
  return {.operands = {eq.lhs, eq.rhs},
          .results = {eq.result},
          .linear = {{0}, {1}}};
}

/// Every letter stands in exactly two of the three tensors, so the gradient of
/// one operand is the contraction of the other two.
static Values einsumGradient(OpBuilder &b, tfm::EinsumOp op, ValueRange dy) {
  tfm::Equation eq;
  tfm::parseEquation(op.getEquation(), eq);
  Value lhs = op.getLhs(), rhs = op.getRhs();
  Value dl = tfm::EinsumOp::create(b, op.getLoc(), lhs.getType(),
                                   eq.result + "," + eq.rhs + "->" + eq.lhs,
                                   dy[0], rhs);
  Value dr = tfm::EinsumOp::create(b, op.getLoc(), rhs.getType(),
                                   eq.lhs + "," + eq.result + "->" + eq.rhs,
                                   lhs, dy[0]);
  return {dl, dr};
}

void mtc::families::attachEinsum(MLIRContext *context) {
  attach<OpFamily::Einsum, tfm::EinsumOp, einsumRule, einsumGradient,
         Absent("a contraction is a GEMM (rt.gemm), not a row-wise kernel")>(
      context);
}
