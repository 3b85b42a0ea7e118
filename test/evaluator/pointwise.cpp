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

void addPointwise(Handlers &h) {
  addArithmetic(h);
  on<tfm::ActivationOp>(h, [](tfm::ActivationOp op, Call &c) {
    map(c, [&](Elements x) { return activate(op.getKind(), x[0]); });
  });
  on<tfm::ActivationGradOp>(h, [](tfm::ActivationGradOp op, Call &c) {
    map(c, [&](Elements x) { return x[1] * slope(op.getKind(), x[0]); });
  });
}

} // namespace mtc::eval
