//===- pointwise.cpp - family: arithmetic on elements ---------------------===//
#include "passes/families/registry.h"
#include "passes/families/util.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::families;

/// sqrt(2/pi) and the cubic coefficient of the tanh form of GELU
/// (Hendrycks and Gimpel, arXiv 1606.08415).
static constexpr double kGeluScale = 0.7978845608028654;
static constexpr double kGeluCubic = 0.044715;

static Value tanhOf(BodyContext &c, Value x) {
  return math::TanhOp::create(c.builder, c.loc, x);
}

/// tanh(sqrt(2/pi)(x + 0.044715 x^3)).
static Value geluTanh(BodyContext &c, Value x) {
  Value inner = c.fma(c.mul(c.mul(x, x), x), c.constant(kGeluCubic), x);
  return tanhOf(c, c.mul(inner, c.constant(kGeluScale)));
}

/// 1 / (1 + exp(-x)) as (1 + tanh(x/2)) / 2, which cannot overflow.
static Value sigmoid(BodyContext &c, Value x) {
  Value t = tanhOf(c, c.mul(x, c.constant(0.5)));
  return c.fma(t, c.constant(0.5), c.constant(0.5));
}

static Value activation(BodyContext &c, tfm::ActivationKind kind, Value x) {
  switch (kind) {
  case tfm::ActivationKind::Gelu: {
    Value half = c.mul(x, c.constant(0.5));
    return c.fma(half, geluTanh(c, x), half);
  }
  case tfm::ActivationKind::Silu:
    return c.mul(x, sigmoid(c, x));
  case tfm::ActivationKind::Relu:
    return arith::MaximumFOp::create(c.builder, c.loc, x, c.constant(0.0));
  }
  llvm_unreachable("all kinds are handled");
}

/// The derivative at x.
static Value derivative(BodyContext &c, tfm::ActivationKind kind, Value x) {
  Value one = c.constant(1.0), half = c.constant(0.5);
  switch (kind) {
  case tfm::ActivationKind::Gelu: {
    // d/dx x/2(1+t) = (1+t)/2 + x/2 (1-t^2) k (1 + 3 c x^2)
    Value t = geluTanh(c, x);
    Value sech2 = c.sub(one, c.mul(t, t));
    Value inner = c.fma(c.mul(x, x), c.constant(3 * kGeluCubic * kGeluScale),
                        c.constant(kGeluScale));
    Value slope = c.mul(c.mul(c.mul(x, half), sech2), inner);
    return c.add(c.fma(t, half, half), slope);
  }
  case tfm::ActivationKind::Silu: {
    Value s = sigmoid(c, x);
    return c.mul(s, c.fma(x, c.sub(one, s), one));
  }
  case tfm::ActivationKind::Relu: {
    Value positive = arith::CmpFOp::create(
        c.builder, c.loc, arith::CmpFPredicate::OGT, x, c.constant(0.0));
    return c.select(positive, one, c.constant(0.0));
  }
  }
  llvm_unreachable("all kinds are handled");
}

static void registerAdd() {
  OpFamily f;
  f.rule = [](Operation *op) {
    std::vector<int> all(op->getNumOperands());
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = i;
    return elementwiseRule({all})(op);
  };
  f.gradient = [](OpBuilder &, Operation *op, ValueRange dy) {
    return SmallVector<Value>(op->getNumOperands(), dy[0]);
  };
  f.body = [](BodyContext &c, Operation *, ValueRange x) -> SmallVector<Value> {
    Value sum = x[0];
    for (Value v : x.drop_front())
      sum = c.add(sum, v);
    return {sum};
  };
  f.rematerializable = true;
  add(tfm::AddOp::getOperationName(), f);
}

static void registerSubMulDiv() {
  OpFamily sub;
  sub.rule = elementwiseRule({{0, 1}});
  sub.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    return SmallVector<Value>{dy[0], scaled(b, op->getLoc(), dy[0], -1.0)};
  };
  sub.body = [](BodyContext &c, Operation *,
                ValueRange x) -> SmallVector<Value> {
    return {c.sub(x[0], x[1])};
  };
  sub.rematerializable = true;
  add(tfm::SubOp::getOperationName(), sub);

  OpFamily mul;
  mul.rule = elementwiseRule({{0}, {1}});
  mul.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    auto product = [&](Value x) -> Value {
      return tfm::MulOp::create(b, op->getLoc(), dy[0], x);
    };
    return SmallVector<Value>{product(op->getOperand(1)),
                              product(op->getOperand(0))};
  };
  mul.body = [](BodyContext &c, Operation *,
                ValueRange x) -> SmallVector<Value> {
    return {c.mul(x[0], x[1])};
  };
  mul.rematerializable = true;
  add(tfm::MulOp::getOperationName(), mul);

  OpFamily div;
  div.rule = elementwiseRule({{0}});
  div.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    Location loc = op->getLoc();
    Value y = op->getOperand(1);
    Value dx = tfm::DivOp::create(b, loc, dy[0], y);
    Value product = tfm::MulOp::create(b, loc, dx, op->getResult(0));
    return SmallVector<Value>{dx, scaled(b, loc, product, -1.0)};
  };
  div.body = [](BodyContext &c, Operation *,
                ValueRange x) -> SmallVector<Value> {
    return {c.div(x[0], x[1])};
  };
  add(tfm::DivOp::getOperationName(), div);
}

static void registerExpLog() {
  OpFamily exp;
  exp.rule = elementwiseRule({});
  exp.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    return SmallVector<Value>{
        tfm::MulOp::create(b, op->getLoc(), dy[0], op->getResult(0))};
  };
  exp.body = [](BodyContext &c, Operation *,
                ValueRange x) -> SmallVector<Value> {
    return {math::ExpOp::create(c.builder, c.loc, x[0])};
  };
  exp.rematerializable = true;
  add(tfm::ExpOp::getOperationName(), exp);

  OpFamily log;
  log.rule = elementwiseRule({});
  log.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    return SmallVector<Value>{
        tfm::DivOp::create(b, op->getLoc(), dy[0], op->getOperand(0))};
  };
  log.body = [](BodyContext &c, Operation *,
                ValueRange x) -> SmallVector<Value> {
    return {math::LogOp::create(c.builder, c.loc, x[0])};
  };
  add(tfm::LogOp::getOperationName(), log);
}

static void registerScaleAndFill() {
  OpFamily scale;
  scale.rule = elementwiseRule({{0}});
  scale.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    double factor = cast<tfm::ScaleOp>(op).getFactor().convertToDouble();
    return SmallVector<Value>{scaled(b, op->getLoc(), dy[0], factor)};
  };
  scale.body = [](BodyContext &c, Operation *op,
                  ValueRange x) -> SmallVector<Value> {
    double factor = cast<tfm::ScaleOp>(op).getFactor().convertToDouble();
    return {c.mul(x[0], c.constant(factor))};
  };
  scale.rematerializable = true;
  add(tfm::ScaleOp::getOperationName(), scale);

  OpFamily fill;
  fill.rule = elementwiseRule({});
  fill.gradient = [](OpBuilder &, Operation *, ValueRange) {
    return SmallVector<Value>{};
  };
  fill.body = [](BodyContext &c, Operation *op,
                 ValueRange) -> SmallVector<Value> {
    return {c.constant(cast<tfm::FillOp>(op).getValue().convertToDouble())};
  };
  fill.rematerializable = true;
  add(tfm::FillOp::getOperationName(), fill);
}

static void registerCast() {
  OpFamily f;
  f.rule = elementwiseRule({{0}});
  f.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    return SmallVector<Value>{tfm::CastOp::create(
        b, op->getLoc(), op->getOperand(0).getType(), dy[0])};
  };
  // Elements of a kernel are f32; the generator rounds what an op makes to the
  // type of its result.
  f.body = [](BodyContext &, Operation *, ValueRange x) -> SmallVector<Value> {
    return {x[0]};
  };
  f.rematerializable = true;
  add(tfm::CastOp::getOperationName(), f);
}

static void registerActivation() {
  OpFamily f;
  f.rule = elementwiseRule({});
  f.gradient = [](OpBuilder &b, Operation *op, ValueRange dy) {
    auto act = cast<tfm::ActivationOp>(op);
    return SmallVector<Value>{tfm::ActivationGradOp::create(
        b, op->getLoc(), act.getKind(), act.getX(), dy[0])};
  };
  f.body = [](BodyContext &c, Operation *op,
              ValueRange x) -> SmallVector<Value> {
    return {activation(c, cast<tfm::ActivationOp>(op).getKind(), x[0])};
  };
  add(tfm::ActivationOp::getOperationName(), f);

  OpFamily g;
  g.rule = elementwiseRule({{1}});
  g.noGradient = "a backward op; second derivatives are not taken";
  g.body = [](BodyContext &c, Operation *op,
              ValueRange x) -> SmallVector<Value> {
    auto kind = cast<tfm::ActivationGradOp>(op).getKind();
    return {c.mul(x[1], derivative(c, kind, x[0]))};
  };
  add(tfm::ActivationGradOp::getOperationName(), g);
}

void mtc::families::registerPointwise() {
  registerAdd();
  registerSubMulDiv();
  registerExpLog();
  registerScaleAndFill();
  registerCast();
  registerActivation();
}
