//===- norm.cpp - norms and their gradients -------------------------------===//
#include "test/evaluator/ops.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cmath>

using namespace mlir;

namespace mtc::eval {

static double averageOf(int64_t n, llvm::function_ref<double(int64_t)> term) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += term(i);
  return sum / n;
}

/// An RMS norm is a layer norm of mean zero.
static void norm(tfm::NormOp op, Call &c) {
  const Tensor &x = *c.in[0], &scale = *c.in[1];
  const Tensor *bias = c.in.size() > 2 ? c.in[2] : nullptr;
  bool layerNorm = op.getKind() == tfm::NormKind::LayerNorm;
  int64_t n = x.shape.back(), rows = count(x.shape) / n;
  double eps = op.getEps().convertToDouble();
  for (int64_t r = 0; r < rows; ++r) {
    const double *row = &x.reals[r * n];
    double mean =
        layerNorm ? averageOf(n, [&](int64_t i) { return row[i]; }) : 0;
    double squares = averageOf(
        n, [&](int64_t i) { return (row[i] - mean) * (row[i] - mean); });
    double rstd = 1 / std::sqrt(squares + eps);
    for (int64_t i = 0; i < n; ++i)
      c.out[0].reals[r * n + i] =
          (row[i] - mean) * rstd * scale.reals[i] + (bias ? bias->reals[i] : 0);
    if (layerNorm)
      c.out[1].reals[r] = mean;
    c.out.back().reals[r] = rstd;
  }
}

/// Operands dy, x, scale, (mean of a layer norm,) rstd. By the chain rule of
/// xh = (x - mean)·rstd, with d = dy·scale.
static void normDx(tfm::NormDxOp op, Call &c) {
  const Tensor &dy = *c.in[0], &x = *c.in[1], &scale = *c.in[2];
  bool layerNorm = op.getKind() == tfm::NormKind::LayerNorm;
  int64_t n = x.shape.back(), rows = count(x.shape) / n;
  for (int64_t r = 0; r < rows; ++r) {
    double mean = layerNorm ? c.in[3]->reals[r] : 0;
    double rstd = c.in.back()->reals[r];
    auto xh = [&](int64_t i) { return (x.reals[r * n + i] - mean) * rstd; };
    auto d = [&](int64_t i) { return dy.reals[r * n + i] * scale.reals[i]; };
    double shift = layerNorm ? averageOf(n, d) : 0;
    double slope = averageOf(n, [&](int64_t i) { return d(i) * xh(i); });
    for (int64_t i = 0; i < n; ++i)
      c.out[0].reals[r * n + i] = rstd * (d(i) - shift - xh(i) * slope);
  }
}

/// Operands dy, x, (mean of a layer norm,) rstd.
static void normDscale(tfm::NormDscaleOp op, Call &c) {
  const Tensor &dy = *c.in[0], &x = *c.in[1];
  bool layerNorm = op.getKind() == tfm::NormKind::LayerNorm;
  int64_t n = x.shape.back(), rows = count(x.shape) / n;
  for (int64_t r = 0; r < rows; ++r) {
    double mean = layerNorm ? c.in[2]->reals[r] : 0;
    double rstd = c.in.back()->reals[r];
    for (int64_t i = 0; i < n; ++i)
      c.out[0].reals[i] +=
          dy.reals[r * n + i] * (x.reals[r * n + i] - mean) * rstd;
  }
}

void addNorm(Handlers &h) {
  on<tfm::NormOp>(h, norm);
  on<tfm::NormDxOp>(h, normDx);
  on<tfm::NormDscaleOp>(h, normDscale);
}

} // namespace mtc::eval
