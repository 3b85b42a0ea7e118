//===- optimizer.cpp - family: the optimizer's arithmetic -----------------===//
#include "passes/families/optimizers.h"
#include "passes/families/registry.h"
#include "passes/families/util.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

Value mtc::families::clippedGradient(BodyContext &c, Value gradient) {
  return c.mul({gradient, c.stepField("clip_coeff")});
}

Value mtc::families::withL2Decay(BodyContext &c, Value gradient, Value param) {
  return c.add({gradient, c.mul({c.stepField("weight_decay"), param})});
}

Value mtc::families::decoupledDecay(BodyContext &c, Value param, Value rate) {
  return c.mul({param, c.sub({c.constant(1.0),
                              c.mul({rate, c.stepField("weight_decay")})})});
}

Value mtc::families::mean(BodyContext &c, StringRef beta,
                          StringRef oneMinusBeta, Value old, Value fresh) {
  return c.add({c.mul({c.stepField(beta), old}),
                c.mul({c.stepField(oneMinusBeta), fresh})});
}

static Values scalar(BodyContext &c, tfm::ScalarOp op, ValueRange) {
  return {c.stepField(op.getField())};
}

void mtc::families::attachOptimizer(MLIRContext *context) {
  constexpr Absent update("the update is not differentiated");
  attach<OpFamily::Optimizer, tfm::AdamwOp, nonlinear, update, adamw>(context);
  attach<OpFamily::Optimizer, tfm::AdamL2Op, nonlinear, update, adamL2>(
      context);
  attach<OpFamily::Optimizer, tfm::SgdOp, nonlinear, update, sgd>(context);
  attach<OpFamily::Optimizer, tfm::LionOp, nonlinear, update, lion>(context);
  attach<OpFamily::Optimizer, tfm::ScalarOp, nonlinear, update, scalar>(
      context);
}
