#include "attention_bounds.h"

#include "mtc/runtime/gpu_attention.h"

#include <algorithm>
#include <cmath>

namespace mtc::test {

double Bounds::stored(double value, double bound) const {
  return bound + round * (std::fabs(value) + bound) + tiny;
}

namespace {

/// P and dS are rounded to elements. All else is fp32: a product of mma loses
/// at most 2^-22 of the sum of sizes for each 16 of its terms, ex2 2^-22;
/// together that is below `single` per unit of exponent and of row.
class HalfBounds : public Bounds {
public:
  explicit HalfBounds(const AttentionCase &c)
      : Bounds(c.element == Element::f16 ? 0x1p-11 : 0x1p-8,
               c.element == Element::f16 ? 0x1p-25 : 0),
        c(c) {}

  void begin(const ScoreRow &r) override {
    row = &r;
    double size = *std::ranges::max_element(r.size);
    single = 0x1p-22 * (4 + size * (2 + c.dim / 16.0) + c.keys / 16.0);
  }
  double lse() const override { return single + 0x1p-22 * std::fabs(row->lse); }
  double weight(int j) const override {
    return row->factor[j] * (row->p[j] * (round + 2 * single) + tiny);
  }
  double output() const override { return 0; }
  double weightAgain(int j) const override { return weight(j); }
  double gradient(int j, const ScoreGradient &g) const override {
    double sizes = g.dpSize + std::fabs(g.dots);
    return (round + 2 * single) * std::fabs(g.ds) + tiny +
           row->p[j] * (1 + round) * (g.dotsBound + 4 * single * sizes);
  }
  double sum(int) const override { return 0; } // in `single`

private:
  const AttentionCase &c;
  const ScoreRow *row = nullptr;
  double single = 0;
};

/// All is fp32, with nothing approximate but expf, within 2 ulp, and logf,
/// within one: 4u and 2u of what they give, u = 2^-24.
///
/// A sum over elements is one of 32 parts and five halvings; each rounding is
/// at most u of what the terms add up to without signs. So a score s with such
/// a size is off by (parts + 6)u·size, of which one is the scale's. An error e
/// of a score makes exp(s) off by e, and so does the rounding of the
/// difference before it, u of which: those to the maxima that come one after
/// the other add up to top - s.
///
/// Online, the sum T of exp(s - top) and that of the values add a rounding per
/// key, and, where the maximum grows, an expf; the values' are multiplied, too.
/// Elsewhere exp(0) is 1 and costs nothing.
class FloatBounds : public Bounds {
public:
  explicit FloatBounds(const AttentionCase &c)
      : Bounds(kUnit, 0), c(c),
        product(kUnit * (cuda::attentionHeadSize(false, c.dim) / 32 + 5)) {}

  void begin(const ScoreRow &r) override {
    row = &r;
    int maxima = countMaxima();
    weights.assign(c.keys, 0);
    double average = 0; // of the errors of T, and of the scores in it
    for (int j = 0; j < c.keys; ++j) {
      if (r.p[j] == 0)
        continue;
      double e = ofScore(j) + kUnit * (r.top - r.score[j] + 4 * (1 + maxima));
      average += r.p[j] * (e + kUnit * c.keys);
      weights[j] = e + kUnit * maxima + sum(c.keys) + ofFactor();
    }
    lseBound = average + kUnit * (2 * (r.lse - r.top) + std::fabs(r.lse));
    quotient = average + kUnit;
  }
  double lse() const override { return lseBound; }
  double weight(int j) const override {
    return row->factor[j] * row->p[j] * weights[j];
  }
  double output() const override { return quotient; }
  double weightAgain(int j) const override {
    return row->factor[j] * row->p[j] * (ofProbability(j) + ofFactor());
  }
  double gradient(int j, const ScoreGradient &g) const override {
    double difference = product * (g.dpSize + g.dotsSize) +
                        ofFactor() * std::fabs(g.dp) + g.dotsBound;
    return (ofProbability(j) + 2 * kUnit) * std::fabs(g.ds) +
           row->p[j] * difference;
  }
  double sum(int terms) const override { return kUnit * terms; }

private:
  /// u, and 1/128 of it for errors of errors.
  static constexpr double kUnit = 0x1.02p-24;

  double ofScore(int j) const { return (product + kUnit) * row->size[j]; }
  /// exp(s - lse), relative.
  double ofProbability(int j) const {
    return ofScore(j) + lseBound +
           kUnit * (std::fabs(row->score[j] - row->lse) + 4);
  }
  /// The scale of dropout is rounded, and so is what it is multiplied with.
  double ofFactor() const { return c.rate > 0 ? 2 * kUnit : 0; }

  /// How many keys may be a new maximum, for all that scores may be off.
  int countMaxima() const {
    int count = 0;
    double top = -INFINITY;
    for (int j = 0; j < c.keys; ++j) {
      if (row->p[j] == 0)
        continue;
      count += row->score[j] + ofScore(j) >= top;
      top = std::max(top, row->score[j] - ofScore(j));
    }
    return count;
  }

  const AttentionCase &c;
  const double product; ///< of a sum of elements, relative to its size
  const ScoreRow *row = nullptr;
  std::vector<double> weights; ///< relative
  double lseBound = 0, quotient = 0;
};

} // namespace

std::unique_ptr<Bounds> boundsOf(const AttentionCase &c) {
  if (c.element == Element::f32)
    return std::make_unique<FloatBounds>(c);
  return std::make_unique<HalfBounds>(c);
}

} // namespace mtc::test
