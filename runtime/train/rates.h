//===- rates.h - learning rate and weight decay over a run ------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_RATES_H
#define MTC_RUNTIME_TRAIN_RATES_H

#include "mtc/runtime/recipe.h"
#include "runtime/train/data.h"

namespace mtc::runtime {

/// What a learning rate begins at, rises to and falls to.
struct RateRange {
  double initial = 0, highest = 0, lowest = 0;
};

/// The schedules of a recipe, by the formulas in recipe.h, in double. The
/// recipe is one that checkRecipe takes.
class Rates {
public:
  /// `samples`: those that are trained on when the last step is done.
  Rates(const Recipe &recipe, int64_t samples);

  /// The n of the formulas, for a step: steps or samples, done behind it or
  /// before it, as the recipe says. Batches may be of any size.
  double at(const GlobalBatch &step) const;

  double learningRate(double n) const { return learningRate(n, range()); }
  /// With the recipe's warm-up and decay between other rates.
  double learningRate(double n, const RateRange &range) const;
  double weightDecay(double n) const;

  RateRange range() const {
    return {recipe_.init_lr, recipe_.lr, recipe_.min_lr};
  }

private:
  double annealing(double n) const;

  Recipe recipe_;
  /// In the recipe's unit: all of the run, and where the phases of the rate
  /// end.
  double whole_, decay_, warmup_, annealing_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_RATES_H
