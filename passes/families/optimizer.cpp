//===- optimizer.cpp - family: the optimizer's arithmetic -----------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

/// docs/numerics.md: g' = g·coeff; m = b1·m + (1-b1)·g';
/// v = b2·v + ((1-b2)·g')·g'; p = p·(1 - lr·wd) - lr·(m·ib1)/(sqrt(v·ib2)+eps).
static Values adamw(BodyContext &c, tfm::AdamwOp op, ValueRange x) {
  Value p = x[0], m = x[2], v = x[3];
  Value lr = c.stepField("lr");
  Value g = c.mul({x[1], c.stepField("clip_coeff")});
  Value m2 = c.add({c.mul({c.stepField("beta1"), m}),
                    c.mul({c.stepField("one_minus_beta1"), g})});
  Value v2 = c.add({c.mul({c.stepField("beta2"), v}),
                    c.mul({c.mul({c.stepField("one_minus_beta2"), g}), g})});
  Value root = math::SqrtOp::create(c.builder, c.loc,
                                    c.mul({v2, c.stepField("inv_bias2")}));
  Value step = c.div({c.mul({m2, c.stepField("inv_bias1")}),
                      c.add({root, c.stepField("eps")})});
  if (op.getDecay())
    p = c.mul({p, c.sub({c.constant(1.0),
                         c.mul({lr, c.stepField("weight_decay")})})});
  return {c.sub({p, c.mul({lr, step})}), m2, v2};
}

static Values scalar(BodyContext &c, tfm::ScalarOp op, ValueRange) {
  return {c.stepField(op.getField())};
}

void mtc::families::attachOptimizer(MLIRContext *context) {
  constexpr Absent update("the update is not differentiated");
  attach<OpFamily::Optimizer, tfm::AdamwOp, nonlinear, update, adamw>(context);
  attach<OpFamily::Optimizer, tfm::ScalarOp, nonlinear, update, scalar>(
      context);
}
