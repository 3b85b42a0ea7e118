//===- sgd.cpp - gradient descent with momentum ---------------------------===//
#include "passes/families/optimizers.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

/// g = g' + wd·p; m = mu·m + g; p - lr·m, or with Nesterov's momentum
/// p - lr·(g + mu·m).
Values mtc::families::sgd(BodyContext &c, tfm::SgdOp op, ValueRange x) {
  Value g = clippedGradient(c, x[1]);
  if (op.getDecay())
    g = withL2Decay(c, g, x[0]);
  Value momentum = c.stepField("momentum");
  Value m = c.add({c.mul({momentum, x[2]}), g});
  Value step = m;
  if (op.getNesterov())
    step = c.add({g, c.mul({momentum, m})});
  return {c.sub({x[0], c.mul({c.stepField("lr"), step})}), m};
}
