//===- rates.h - learning rate and weight decay over a run ------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_RATES_H
#define MTC_RUNTIME_TRAIN_RATES_H

#include "mtc/runtime/recipe.h"

namespace mtc::runtime {

/// How large a run is.
struct RunSize {
  int64_t globalBatch = 1; ///< samples of a step
  int64_t samples = 0;     ///< that are trained on when its last step is done
};

/// What a learning rate begins at, rises to and falls to.
struct RateRange {
  double initial = 0, highest = 0, lowest = 0;
};

/// The schedules of a recipe, by the formulas in recipe.h, in double. The
/// recipe is one that checkRecipe takes.
class Rates {
public:
  Rates(const Recipe &recipe, RunSize size);

  /// The n of the formulas, for a step >= 1 whose samples begin with
  /// `firstSample`: steps or samples, done behind it or before it, as the
  /// recipe says.
  double at(int64_t step, int64_t firstSample) const;

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
  int64_t globalBatch_;
  /// In the recipe's unit: all of the run, and where the phases of the rate
  /// end.
  double whole_, decay_, warmup_, annealing_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_RATES_H
