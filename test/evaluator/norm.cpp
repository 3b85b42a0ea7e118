//===- norm.cpp - layer norm and its gradient
//------------------------------===//
#include "test/evaluator/ops.h"

#include <cmath>

using namespace mlir;

namespace mtc::eval {

static void norm(tfm::NormOp op, Call &c) {
  const Tensor &x = *c.in[0];
  int64_t n = x.shape.back(), rows = count(x.shape) / n;
  double eps = op.getEps().convertToDouble();
  for (int64_t r = 0; r < rows; ++r) {
    const double *row = &x.reals[r * n];
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < n; ++i)
      mean += row[i] / n;
    for (int64_t i = 0; i < n; ++i)
      variance += (row[i] - mean) * (row[i] - mean) / n;
    double rstd = 1 / std::sqrt(variance + eps);
    for (int64_t i = 0; i < n; ++i)
      c.out[0].reals[r * n + i] =
          (row[i] - mean) * rstd * c.in[1]->reals[i] + c.in[2]->reals[i];
    c.out[1].reals[r] = mean;
    c.out[2].reals[r] = rstd;
  }
}

/// Operands dy, x, scale, mean, rstd; the formula of tfm.norm_dx.
static void normDx(tfm::NormDxOp, Call &c) {
  const Tensor &dy = *c.in[0], &x = *c.in[1], &scale = *c.in[2];
  int64_t n = x.shape.back(), rows = count(x.shape) / n;
  for (int64_t r = 0; r < rows; ++r) {
    double mean = c.in[3]->reals[r], rstd = c.in[4]->reals[r];
    double sumD = 0, sumDxh = 0;
    auto xh = [&](int64_t i) { return (x.reals[r * n + i] - mean) * rstd; };
    auto d = [&](int64_t i) { return dy.reals[r * n + i] * scale.reals[i]; };
    for (int64_t i = 0; i < n; ++i) {
      sumD += d(i);
      sumDxh += d(i) * xh(i);
    }
    for (int64_t i = 0; i < n; ++i)
      c.out[0].reals[r * n + i] = rstd * (d(i) - sumD / n - xh(i) * sumDxh / n);
  }
}

/// Operands dy, x, mean, rstd.
static void normDscale(tfm::NormDscaleOp, Call &c) {
  const Tensor &dy = *c.in[0], &x = *c.in[1];
  int64_t n = x.shape.back(), rows = count(x.shape) / n;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < n; ++i)
      c.out[0].reals[i] += dy.reals[r * n + i] *
                           (x.reals[r * n + i] - c.in[2]->reals[r]) *
                           c.in[3]->reals[r];
}

void addNorm(Handlers &h) {
  on<tfm::NormOp>(h, norm);
  on<tfm::NormDxOp>(h, normDx);
  on<tfm::NormDscaleOp>(h, normDscale);
}

} // namespace mtc::eval
