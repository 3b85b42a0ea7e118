//===- epilogue.cpp - from sums of products to D --------------------------===//
#include "test/cuda/blas/epilogue.h"

namespace mtc::standin::blas {
namespace {

constexpr double kRoot = 0.7978845608028654; ///< sqrt(2/pi)
constexpr double kCubic = 0.044715;

float gelu(float value) {
  double x = value;
  return float(0.5 * x * (1 + std::tanh(kRoot * (x + kCubic * x * x * x))));
}

double geluSlope(double x) {
  double t = std::tanh(kRoot * (x + kCubic * x * x * x));
  return 0.5 * (1 + t) +
         0.5 * x * (1 - t * t) * kRoot * (1 + 3 * kCubic * x * x);
}

/// One product of a batch, with its operands at hand.
class Finisher {
public:
  Finisher(const Product &product, int64_t index)
      : of(product.problem), inPlace(product.isInPlace()),
        reduces(product.split > 1 && of.a.type == CUDA_R_32F), d(of.d, index) {
    if (of.readsC())
      c = View(of.c, index);
    if (of.hasBias())
      bias = View(vectorAt(of.bias, of.m, of.d.type), 0);
    if (of.hasAux())
      aux = View(of.aux, index);
    if (of.gradientLength())
      gradient = View(vectorAt(of.bias, of.gradientLength(), of.d.type), 0);
  }

  void element(int64_t i, int64_t j, float sum) {
    float value = beforeActivation(i, j, sum);
    if (of.isDgelu()) {
      double slope = geluSlope(aux.load(i, j));
      value = float(roundTo(of.d.type, value) * slope);
    } else if (of.hasAux()) {
      aux.store(i, j, value);
    }
    if (of.hasGelu())
      value = gelu(value);
    if (of.family() == Family::dgeluSum)
      rows[size_t(i)].add(value);
    d.store(i, j, value);
  }

  void begin() {
    if (of.family() == Family::dgeluSum)
      rows.resize(size_t(of.m));
  }

  void sumInputs(const Factors &factors) {
    bool ofA = of.epilogue == CUBLASLT_EPILOGUE_BGRADA;
    for (int64_t k = 0; k < of.gradientLength(); ++k) {
      LaneSum sum;
      for (int64_t l = 0; l < of.k; ++l)
        sum.add(ofA ? factors.a[size_t(l * of.m + k)]
                    : factors.b[size_t(k * of.k + l)]);
      gradient.store(k, 0, sum.total());
    }
  }

  void end(const Factors &factors) {
    if (of.family() == Family::sumOfInput)
      sumInputs(factors);
    for (size_t k = 0; k < rows.size(); ++k)
      gradient.store(int64_t(k), 0, rows[k].total());
  }

private:
  float withBias(int64_t i, float sum) const {
    return of.hasBias() ? std::fma(of.alpha, sum, bias.load(i, 0))
                        : of.alpha * sum;
  }

  /// Kernels that add to what is there ("badd"): the product is a value of D's
  /// type before it is added.
  bool addsInPlace() const {
    return inPlace && of.beta == 1 && of.a.type != CUDA_R_32F &&
           !of.hasGelu() && !of.hasAux();
  }

  float beforeActivation(int64_t i, int64_t j, float sum) const {
    if (of.beta == 0)
      return withBias(i, sum);
    float old = c.load(i, j);
    if (addsInPlace())
      return roundTo(of.d.type, withBias(i, sum)) + old;
    float value = reduces ? std::fma(of.beta, old, of.alpha * sum)
                          : std::fma(of.alpha, sum, of.beta * old);
    return of.hasBias() ? value + bias.load(i, 0) : value;
  }

  const Problem &of;
  bool inPlace;
  bool reduces; ///< the kernel that adds parts of f32 operands
  View c, d, aux, bias, gradient;
  std::vector<LaneSum> rows; ///< of dGELU
};

} // namespace

void finish(const Product &product, const Factors &factors,
            const std::vector<float> &sums, int64_t index) {
  const Problem &of = product.problem;
  Finisher finisher(product, index);
  finisher.begin();
  for (int64_t j = 0; j < of.n; ++j)
    for (int64_t i = 0; i < of.m; ++i)
      finisher.element(i, j, sums[size_t(j * of.m + i)]);
  finisher.end(factors);
}

} // namespace mtc::standin::blas
