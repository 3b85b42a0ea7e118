//===- reference.cpp - a product in double precision ----------------------===//
#include "test/cuda/blas/reference.h"

#include <cmath>

namespace mtc::standin::test {
namespace {

constexpr double kRoot = 0.79788456080286535588; // sqrt(2/pi)

double inner(double x) { return kRoot * (x + 0.044715 * x * x * x); }

double at(const std::vector<double> &values, int64_t row, int64_t col,
          int64_t ld, int64_t offset) {
  return values[size_t(offset + row + col * ld)];
}

double opA(const Operation &of, int64_t i, int64_t l, int product) {
  const Shape &s = of.shape;
  int64_t ld = s.rowsA() + s.padA, offset = ld * s.colsA() * product;
  return s.transA ? at(of.valuesA, l, i, ld, offset)
                  : at(of.valuesA, i, l, ld, offset);
}

double opB(const Operation &of, int64_t l, int64_t j, int product) {
  const Shape &s = of.shape;
  int64_t ld = s.rowsB() + s.padB, offset = ld * s.colsB() * product;
  return s.transB ? at(of.valuesB, j, l, ld, offset)
                  : at(of.valuesB, l, j, ld, offset);
}

} // namespace

double geluTanh(double x) { return 0.5 * x * (1 + std::tanh(inner(x))); }

double geluErf(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2))); }

double geluTanhSlope(double x) {
  double t = std::tanh(inner(x));
  return 0.5 * (1 + t) +
         0.5 * x * (1 - t * t) * kRoot * (1 + 3 * 0.044715 * x * x);
}

Element elementOf(const Operation &of, int64_t i, int64_t j, int product) {
  const Shape &s = of.shape;
  Element element;
  for (int64_t l = 0; l < s.k; ++l) {
    double term = opA(of, i, l, product) * opB(of, l, j, product);
    element.sum += term;
    element.magnitude += std::fabs(term);
  }
  int64_t ld = s.m + s.padD;
  element.old = at(of.valuesC, i, j, ld, ld * s.n * product);
  if (s.epilogue & CUBLASLT_EPILOGUE_BIAS)
    element.bias = of.valuesBias[size_t(i)];
  if (s.hasAux())
    element.aux = at(of.valuesAux, i, j, s.auxLd < 0 ? s.m : s.auxLd, 0);
  return element;
}

Element inputSum(const Operation &of, int64_t k) {
  Element element;
  for (int64_t l = 0; l < of.shape.k; ++l) {
    bool ofA = of.shape.epilogue == CUBLASLT_EPILOGUE_BGRADA;
    double value = ofA ? opA(of, k, l, 0) : opB(of, l, k, 0);
    element.sum += value;
    element.magnitude += std::fabs(value);
  }
  return element;
}

} // namespace mtc::standin::test
