//===- pointwise.cpp - arithmetic on elements -----------------------------===//
#include "test/evaluator/ops.h"

#include <cmath>

using namespace mlir;

namespace mtc::eval {

/// Result 0 is `fn` of the operands' elements.
template <typename Fn> static void map(Call &c, Fn fn) {
  std::vector<double> x(c.in.size());
  for (size_t i = 0; i < c.out[0].reals.size(); ++i) {
    for (size_t k = 0; k < x.size(); ++k)
      x[k] = c.in[k]->reals[i];
    c.out[0].reals[i] = fn(x);
  }
}

using Elements = const std::vector<double> &;

static double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

static double activate(tfm::ActivationKind kind, double x) {
  if (kind == tfm::ActivationKind::Relu)
    return x > 0 ? x : 0;
  if (kind == tfm::ActivationKind::Silu)
    return x * logistic(x);
  double inner = std::sqrt(2.0 / M_PI) * (x + 0.044715 * std::pow(x, 3));
  return x / 2 * (1 + std::tanh(inner));
}

/// Derivatives by the product and chain rules.
static double slope(tfm::ActivationKind kind, double x) {
  if (kind == tfm::ActivationKind::Relu)
    return x > 0 ? 1 : 0;
  if (kind == tfm::ActivationKind::Silu) {
    double s = logistic(x);
    return s + x * s * (1 - s);
  }
  double k = std::sqrt(2.0 / M_PI);
  double t = std::tanh(k * (x + 0.044715 * std::pow(x, 3)));
  double dt = (1 - t * t) * k * (1 + 3 * 0.044715 * x * x);
  return (1 + t) / 2 + x / 2 * dt;
}

static void addArithmetic(Handlers &h) {
  on<tfm::AddOp>(h, [](tfm::AddOp, Call &c) {
    map(c, [](Elements x) {
      double sum = 0;
      for (double v : x)
        sum += v;
      return sum;
    });
  });
  on<tfm::SubOp>(h, [](tfm::SubOp, Call &c) {
    map(c, [](Elements x) { return x[0] - x[1]; });
  });
  on<tfm::MulOp>(h, [](tfm::MulOp, Call &c) {
    map(c, [](Elements x) { return x[0] * x[1]; });
  });
  on<tfm::DivOp>(h, [](tfm::DivOp, Call &c) {
    map(c, [](Elements x) { return x[0] / x[1]; });
  });
  on<tfm::ExpOp>(h, [](tfm::ExpOp, Call &c) {
    map(c, [](Elements x) { return std::exp(x[0]); });
  });
  on<tfm::LogOp>(h, [](tfm::LogOp, Call &c) {
    map(c, [](Elements x) { return std::log(x[0]); });
  });
  on<tfm::ScaleOp>(h, [](tfm::ScaleOp op, Call &c) {
    double factor = op.getFactor().convertToDouble();
    map(c, [&](Elements x) { return x[0] * factor; });
  });
  on<tfm::ScaleGradientOp>(h, [](tfm::ScaleGradientOp, Call &c) {
    map(c, [](Elements x) { return x[0]; });
  });
  on<tfm::FillOp>(h, [](tfm::FillOp op, Call &c) {
    double value = op.getValue().convertToDouble();
    map(c, [&](Elements) { return value; });
  });
}

/// A field of the step block; fields are tested by name, so a missing one is
/// an error and not zero.
static FailureOr<double> field(Call &c, StringRef name) {
  auto it = c.step.fields.find(name.str());
  if (it == c.step.fields.end())
    return c.op->emitOpError("expected field \"")
           << name << "\" in the step block, found none";
  return it->second;
}

static LogicalResult scalar(Call &c) {
  auto value = field(c, cast<tfm::ScalarOp>(c.op).getField());
  if (failed(value))
    return failure();
  map(c, [&](Elements) { return *value; });
  return success();
}

/// docs/numerics.md, AdamW.
static LogicalResult adamw(Call &c) {
  std::map<std::string, double> f;
  for (const char *name :
       {"lr", "weight_decay", "beta1", "beta2", "one_minus_beta1",
        "one_minus_beta2", "eps", "inv_bias1", "inv_bias2", "clip_coeff"}) {
    auto value = field(c, name);
    if (failed(value))
      return failure();
    f[name] = *value;
  }
  double decay = cast<tfm::AdamwOp>(c.op).getDecay() ? f["weight_decay"] : 0;
  for (size_t i = 0; i < c.in[0]->reals.size(); ++i) {
    double g = c.in[1]->reals[i] * f["clip_coeff"];
    double m = f["beta1"] * c.in[2]->reals[i] + f["one_minus_beta1"] * g;
    double v = f["beta2"] * c.in[3]->reals[i] + f["one_minus_beta2"] * g * g;
    double step =
        m * f["inv_bias1"] / (std::sqrt(v * f["inv_bias2"]) + f["eps"]);
    double p = c.in[0]->reals[i];
    c.out[0].reals[i] = p - f["lr"] * decay * p - f["lr"] * step;
    c.out[1].reals[i] = m;
    c.out[2].reals[i] = v;
  }
  return success();
}

void addPointwise(Handlers &h) {
  addArithmetic(h);
  on<tfm::ActivationOp>(h, [](tfm::ActivationOp op, Call &c) {
    map(c, [&](Elements x) { return activate(op.getKind(), x[0]); });
  });
  on<tfm::ActivationGradOp>(h, [](tfm::ActivationGradOp op, Call &c) {
    map(c, [&](Elements x) { return x[1] * slope(op.getKind(), x[0]); });
  });
  h["tfm.scalar"] = scalar;
  h["tfm.adamw"] = adamw;
}

} // namespace mtc::eval
