//===- attention_bounds.h - how far results may be off ----------*- C++ -*-===//
//
// Errors that the roundings of a kernel can add up to, by the row of scores to
// which it owes them. To first order: errors of errors have a reserve.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_ATTENTION_BOUNDS_H
#define MTC_TEST_CUDA_ATTENTION_BOUNDS_H

#include "attention_case.h"

#include <memory>

namespace mtc::test {

/// Exact values of a query; by key.
struct ScoreRow {
  std::vector<double> score; ///< -inf: not seen
  std::vector<double> size;  ///< what the score's terms add up to without signs
  std::vector<double> p;     ///< probability
  std::vector<double> factor; ///< of dropout: 0, or 1/(1 - rate)
  double top, lse;
};

/// Of a query and a key, the derivative dS = P∘(M∘dP - D).
struct ScoreGradient {
  double ds, dp; ///< dS, M∘dP
  double dots;   ///< D
  double dpSize, dotsSize, dotsBound;
};

/// Terms of an error are named by what they are multiplied with.
class Bounds {
public:
  virtual ~Bounds() = default;
  /// The row of which the others speak.
  virtual void begin(const ScoreRow &row) = 0;

  virtual double lse() const = 0;
  /// Of P∘M, by which forward weighs the values of a key.
  virtual double weight(int key) const = 0;
  /// An output's, relative to it, beside those of its weights.
  virtual double output() const = 0;
  /// Of P∘M in backward.
  virtual double weightAgain(int key) const = 0;
  virtual double gradient(int key, const ScoreGradient &g) const = 0;
  /// Of a sum of so many terms, relative to the sum of their sizes.
  virtual double sum(int terms) const = 0;

  /// A result with the error `bound`, stored.
  double stored(double value, double bound) const;

protected:
  /// The unit roundoff of an element; half the spacing of its subnormals.
  Bounds(double round, double tiny) : round(round), tiny(tiny) {}
  const double round, tiny;
};

std::unique_ptr<Bounds> boundsOf(const AttentionCase &c);

} // namespace mtc::test
#endif // MTC_TEST_CUDA_ATTENTION_BOUNDS_H
