//===- lion.cpp - the sign of a momentum ----------------------------------===//
#include "passes/families/optimizers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

/// -1, 0 or 1; of NaN 0.
static Value signOf(BodyContext &c, Value x) {
  Value zero = c.constant(0.0), one = c.constant(1.0),
        minusOne = c.constant(-1.0);
  Value isPositive = arith::CmpFOp::create(c.builder, c.loc,
                                           arith::CmpFPredicate::OGT, x, zero);
  Value isNegative = arith::CmpFOp::create(c.builder, c.loc,
                                           arith::CmpFPredicate::OLT, x, zero);
  return c.select({isPositive, one, c.select({isNegative, minusOne, zero})});
}

/// arXiv:2302.06675, algorithm 2: the step is sign(b1·m + (1-b1)·g'), and then
/// m = b2·m + (1-b2)·g'; p·(1 - lr·wd) - lr·step.
Values mtc::families::lion(BodyContext &c, tfm::LionOp op, ValueRange x) {
  Value p = x[0];
  Value lr = c.stepField("lr");
  Value g = clippedGradient(c, x[1]);
  Value step = signOf(c, mean(c, "beta1", "one_minus_beta1", x[2], g));
  Value m = mean(c, "beta2", "one_minus_beta2", x[2], g);
  if (op.getDecay())
    p = decoupledDecay(c, p, lr);
  return {c.sub({p, c.mul({lr, step})}), m};
}
