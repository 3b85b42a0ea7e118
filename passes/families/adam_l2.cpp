//===- adam_l2.cpp - Adam, whose gradient has the decay -------------------===//
#include "passes/families/optimizers.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

/// g = g' + wd·p; p - lr·step of that g.
Values mtc::families::adamL2(BodyContext &c, tfm::AdamL2Op op, ValueRange x) {
  Value g = clippedGradient(c, x[1]);
  if (op.getDecay())
    g = withL2Decay(c, g, x[0]);
  AdamStep adam = adamStep(c, g, x[2], x[3]);
  return {c.sub({x[0], c.mul({c.stepField("lr"), adam.step})}), adam.mean,
          adam.meanSquare};
}
