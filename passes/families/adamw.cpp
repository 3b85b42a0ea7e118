//===- adamw.cpp - Adam with decoupled decay ------------------------------===//
#include "passes/families/optimizers.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

/// m = b1·m + (1-b1)·g; v = b2·v + ((1-b2)·g)·g; (m·ib1)/(sqrt(v·ib2)+eps).
AdamStep mtc::families::adamStep(BodyContext &c, Value g, Value m, Value v) {
  Value m2 = mean(c, "beta1", "one_minus_beta1", m, g);
  Value v2 = c.add({c.mul({c.stepField("beta2"), v}),
                    c.mul({c.mul({c.stepField("one_minus_beta2"), g}), g})});
  Value root = math::SqrtOp::create(c.builder, c.loc,
                                    c.mul({v2, c.stepField("inv_bias2")}));
  Value step = c.div({c.mul({m2, c.stepField("inv_bias1")}),
                      c.add({root, c.stepField("eps")})});
  return {step, m2, v2};
}

/// p·(1 - lr·wd) - lr·step.
Values mtc::families::adamw(BodyContext &c, tfm::AdamwOp op, ValueRange x) {
  Value p = x[0];
  Value lr = c.stepField("lr");
  AdamStep adam = adamStep(c, clippedGradient(c, x[1]), x[2], x[3]);
  if (op.getDecay())
    p = decoupledDecay(c, p, lr);
  return {c.sub({p, c.mul({lr, adam.step})}), adam.mean, adam.meanSquare};
}
