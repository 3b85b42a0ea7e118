//===- optimizer.cpp - family: the optimizer's arithmetic -----------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

/// docs/numerics.md: g' = g·coeff; m = b1·m + (1-b1)·g';
/// v = b2·v + ((1-b2)·g')·g'; p = p·(1 - lr·wd) - lr·(m·ib1)/(sqrt(v·ib2)+eps).
static SmallVector<Value> adamw(BodyContext &c, Operation *op, ValueRange x) {
  Value p = x[0], m = x[2], v = x[3];
  Value lr = c.stepField("lr");
  Value g = c.mul(x[1], c.stepField("clip_coeff"));
  Value m2 = c.add(c.mul(c.stepField("beta1"), m),
                   c.mul(c.stepField("one_minus_beta1"), g));
  Value v2 = c.add(c.mul(c.stepField("beta2"), v),
                   c.mul(c.mul(c.stepField("one_minus_beta2"), g), g));
  Value root = math::SqrtOp::create(c.builder, c.loc,
                                    c.mul(v2, c.stepField("inv_bias2")));
  Value step = c.div(c.mul(m2, c.stepField("inv_bias1")),
                     c.add(root, c.stepField("eps")));
  if (cast<tfm::AdamwOp>(op).getDecay())
    p = c.mul(p,
              c.sub(c.constant(1.0), c.mul(lr, c.stepField("weight_decay"))));
  return {c.sub(p, c.mul(lr, step)), m2, v2};
}

void mtc::families::registerOptimizer() {
  OpFamily f;
  f.rule = elementwiseRule({});
  f.noGradient = "the update is not differentiated";
  f.body = adamw;
  add(tfm::AdamwOp::getOperationName(), f);

  OpFamily s;
  s.rule = elementwiseRule({});
  s.noGradient = "the update is not differentiated";
  s.body = [](BodyContext &c, Operation *op, ValueRange) -> SmallVector<Value> {
    return {c.stepField(cast<tfm::ScalarOp>(op).getField())};
  };
  add(tfm::ScalarOp::getOperationName(), s);
}
