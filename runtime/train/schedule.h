//===- schedule.h - fills the step block ------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_SCHEDULE_H
#define MTC_RUNTIME_TRAIN_SCHEDULE_H

#include "mtc/runtime/abi.h"
#include "mtc/runtime/recipe.h"
#include "runtime/train/param_groups.h"
#include "runtime/train/rates.h"

#include <vector>

namespace mtc::runtime {

/// Fills the block of one step after another. Powers of the betas are running
/// products in double, so a run that resumes has the bits of one that did not.
class StepSchedule {
public:
  /// `samples`: of all steps. `groups`: of a program, in its order.
  explicit StepSchedule(const Recipe &recipe, int64_t samples = 0,
                        std::vector<ParamGroup> groups = {});

  /// Any step >= 1; constant time when steps ascend one by one, or stay. Steps
  /// that were skipped, and their samples, do not count.
  void fill(const GlobalBatch &step, MtcStepBlock &block);
  /// What such a step has of its own in each group. Places of no group have the
  /// values of all.
  MtcRates ratesOf(const GlobalBatch &step) const;
  /// Updates in front of the step that was filled last, and their betas; not
  /// the scale.
  void fillUpdates(MtcStepOrder &order) const;

private:
  Recipe recipe_;
  Rates rates_;
  std::vector<ParamGroup> groups_;
  int64_t updates_ = 0;            ///< in front of that step
  double power1_ = 1, power2_ = 1; ///< beta^updates_
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_SCHEDULE_H
