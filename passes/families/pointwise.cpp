//===- pointwise.cpp - family: arithmetic on elements ---------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <numeric>

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

/// sqrt(2/pi) and the cubic coefficient of the tanh form of GELU
/// (Hendrycks and Gimpel, arXiv 1606.08415).
static constexpr double kGeluScale = 0.7978845608028654;
static constexpr double kGeluCubic = 0.044715;

/// 1 / (1 + exp(-x)).
static Value logistic(BodyContext &c, Value x) {
  return rt::LogisticOp::create(c.builder, c.loc, x);
}

/// GELU is x times the logistic function of u = 2 sqrt(2/pi)(x + 0.044715 x^3),
/// which is (1 + tanh(u/2)) / 2; and u's derivative.
struct GeluInner {
  Value u, slope;
};
static GeluInner geluInner(BodyContext &c, Value x) {
  Value square = c.mul({x, x}), scale = c.constant(2 * kGeluScale);
  Value inner = c.fma({square, c.constant(2 * kGeluCubic * kGeluScale), scale});
  Value slope = c.fma({square, c.constant(6 * kGeluCubic * kGeluScale), scale});
  return {c.mul({x, inner}), slope};
}

static Value activation(BodyContext &c, tfm::ActivationKind kind, Value x) {
  switch (kind) {
  case tfm::ActivationKind::Gelu:
    return c.mul({x, logistic(c, geluInner(c, x).u)});
  case tfm::ActivationKind::Silu:
    return c.mul({x, logistic(c, x)});
  case tfm::ActivationKind::Relu:
    return arith::MaximumFOp::create(c.builder, c.loc, x, c.constant(0.0));
  }
  llvm_unreachable("all kinds are handled");
}

/// The derivative at x.
static Value derivative(BodyContext &c, tfm::ActivationKind kind, Value x) {
  Value one = c.constant(1.0);
  switch (kind) {
  case tfm::ActivationKind::Gelu: {
    // d/dx x·s(u) = s + x·s(1 - s)·u'
    GeluInner inner = geluInner(c, x);
    Value s = logistic(c, inner.u);
    // s first: where it is 0, the others' product may have no value.
    Value rest = c.mul({s, c.mul({x, c.sub({one, s})})});
    return c.fma({rest, inner.slope, s});
  }
  case tfm::ActivationKind::Silu: {
    Value s = logistic(c, x);
    return c.mul({s, c.fma({x, c.sub({one, s}), one})});
  }
  case tfm::ActivationKind::Relu: {
    Value positive = arith::CmpFOp::create(
        c.builder, c.loc, arith::CmpFPredicate::OGT, x, c.constant(0.0));
    return c.select({positive, one, c.constant(0.0)});
  }
  }
  llvm_unreachable("all kinds are handled");
}

//===--- sums and products ------------------------------------------------===//

static ShardingRule addRule(tfm::AddOp op) {
  std::vector<int> all(op->getNumOperands());
  std::iota(all.begin(), all.end(), 0);
  return elementwise(op, {all});
}
static Values addGradient(OpBuilder &, Operation *op, ValueRange dy) {
  return Values(op->getNumOperands(), dy[0]);
}
static Values addBody(BodyContext &c, Operation *, ValueRange x) {
  Value sum = x[0];
  for (Value v : x.drop_front())
    sum = c.add({sum, v});
  return {sum};
}

static ShardingRule subRule(Operation *op) { return elementwise(op, {{0, 1}}); }
static Values subGradient(OpBuilder &b, Operation *op, ValueRange dy) {
  return {dy[0], scaled(b, op->getLoc(), dy[0], -1.0)};
}
static Values subBody(BodyContext &c, Operation *, ValueRange x) {
  return {c.sub({x[0], x[1]})};
}

static ShardingRule mulRule(Operation *op) {
  return elementwise(op, {{0}, {1}});
}
static Values mulGradient(OpBuilder &b, Operation *op, ValueRange dy) {
  auto product = [&](Value x) -> Value {
    return tfm::MulOp::create(b, op->getLoc(), dy[0], x);
  };
  Value dx = product(op->getOperand(1));
  return {dx, product(op->getOperand(0))};
}
static Values mulBody(BodyContext &c, Operation *, ValueRange x) {
  return {c.mul({x[0], x[1]})};
}

/// The factor is a number that is known, never a sum over ranks.
static Values scaleGradientGradient(OpBuilder &b, tfm::ScaleGradientOp op,
                                    ValueRange dy) {
  return {tfm::MulOp::create(b, op.getLoc(), dy[0], op.getFactor()), Value()};
}

static Values divGradient(OpBuilder &b, Operation *op, ValueRange dy) {
  Location loc = op->getLoc();
  Value y = op->getOperand(1);
  Value dx = tfm::DivOp::create(b, loc, dy[0], y);
  Value product = tfm::MulOp::create(b, loc, dx, op->getResult(0));
  return {dx, scaled(b, loc, product, -1.0)};
}
static Values divBody(BodyContext &c, Operation *, ValueRange x) {
  return {c.div({x[0], x[1]})};
}

//===--- exp and log ------------------------------------------------------===//

static Values expGradient(OpBuilder &b, Operation *op, ValueRange dy) {
  return {tfm::MulOp::create(b, op->getLoc(), dy[0], op->getResult(0))};
}
static Values expBody(BodyContext &c, Operation *, ValueRange x) {
  return {math::ExpOp::create(c.builder, c.loc, x[0])};
}

static Values logGradient(OpBuilder &b, Operation *op, ValueRange dy) {
  return {tfm::DivOp::create(b, op->getLoc(), dy[0], op->getOperand(0))};
}
static Values logBody(BodyContext &c, Operation *, ValueRange x) {
  return {math::LogOp::create(c.builder, c.loc, x[0])};
}

//===--- scale, fill and cast ---------------------------------------------===//

static Values scaleGradient(OpBuilder &b, tfm::ScaleOp op, ValueRange dy) {
  return {scaled(b, op.getLoc(), dy[0], op.getFactor().convertToDouble())};
}
static Values scaleBody(BodyContext &c, tfm::ScaleOp op, ValueRange x) {
  return {c.mul({x[0], c.constant(op.getFactor().convertToDouble())})};
}

static Values fillBody(BodyContext &c, tfm::FillOp op, ValueRange) {
  return {c.constant(op.getValue().convertToDouble())};
}

static Values castGradient(OpBuilder &b, tfm::CastOp op, ValueRange dy) {
  return {tfm::CastOp::create(b, op.getLoc(), op.getX().getType(), dy[0])};
}

//===--- activation -------------------------------------------------------===//

static Values activationGradient(OpBuilder &b, tfm::ActivationOp op,
                                 ValueRange dy) {
  return {tfm::ActivationGradOp::create(b, op.getLoc(), op.getKind(), op.getX(),
                                        dy[0])};
}
static Values activationBody(BodyContext &c, tfm::ActivationOp op,
                             ValueRange x) {
  return {activation(c, op.getKind(), x[0])};
}

static ShardingRule activationGradRule(Operation *op) {
  return elementwise(op, {{1}});
}
static Values activationGradBody(BodyContext &c, tfm::ActivationGradOp op,
                                 ValueRange x) {
  return {c.mul({x[1], derivative(c, op.getKind(), x[0])})};
}

void mtc::families::attachPointwise(MLIRContext *context) {
  attach<OpFamily::Pointwise, tfm::AddOp, addRule, addGradient, addBody>(
      context);
  attach<OpFamily::Pointwise, tfm::SubOp, subRule, subGradient, subBody>(
      context);
  attach<OpFamily::Pointwise, tfm::MulOp, mulRule, mulGradient, mulBody>(
      context);
  attach<OpFamily::Pointwise, tfm::DivOp, linearInFirst, divGradient, divBody>(
      context);
  attach<OpFamily::Pointwise, tfm::ExpOp, nonlinear, expGradient, expBody>(
      context);
  attach<OpFamily::Pointwise, tfm::LogOp, nonlinear, logGradient, logBody>(
      context);
  attach<OpFamily::Pointwise, tfm::ScaleOp, linearInFirst, scaleGradient,
         scaleBody>(context);
  attach<OpFamily::Pointwise, tfm::ScaleGradientOp, linearInFirst,
         scaleGradientGradient, sameElement>(context);
  attach<OpFamily::Pointwise, tfm::FillOp, nonlinear, noCotangents, fillBody>(
      context);
  attach<OpFamily::Pointwise, tfm::CastOp, linearInFirst, castGradient,
         sameElement>(context);
  attach<OpFamily::Pointwise, tfm::ActivationOp, nonlinear, activationGradient,
         activationBody>(context);
  attach<OpFamily::Pointwise, tfm::ActivationGradOp, activationGradRule,
         kBackwardOp, activationGradBody>(context);
}
