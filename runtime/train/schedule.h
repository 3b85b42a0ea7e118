//===- schedule.h - fills the step block ------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_SCHEDULE_H
#define MTC_RUNTIME_TRAIN_SCHEDULE_H

#include "mtc/runtime/abi.h"
#include "mtc/runtime/recipe.h"

namespace mtc::runtime {

/// cos(pi·x) for 0 <= x <= 1 by + - * only, error below 1e-15: the same bits
/// with any C library.
double cosPi(double x);

/// The formula in recipe.h, in double; step >= 1.
double learningRate(const Recipe &recipe, int64_t step);

/// Fills the block of one step after another. Powers of the betas are running
/// products in double, so a run that resumes has the bits of one that did not.
class StepSchedule {
public:
  explicit StepSchedule(const Recipe &recipe);

  /// Any step >= 1, whose samples begin with `firstSample`; constant time when
  /// steps ascend one by one, or stay. Steps that were skipped do not count.
  void fill(int64_t step, int64_t firstSample, MtcStepBlock &block);

private:
  Recipe recipe_;
  int64_t step_ = 0;
  double power1_ = 1, power2_ = 1; ///< beta^step_
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_SCHEDULE_H
