//===- step_batches.h - how many samples a step has -------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_STEP_BATCHES_H
#define MTC_RUNTIME_TRAIN_STEP_BATCHES_H

#include "mtc/runtime/descriptor.h"
#include "mtc/runtime/recipe.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// How the global batch grows: `start` samples, and `increment` more each time,
/// up to those of the run once `samples` were read. As Megatron-LM's
/// --rampup-batch-size.
struct BatchRamp {
  int64_t start = 0, increment = 0, samples = 0;

  /// Reads "16 16 100000", or "" for none (all zero). Errors: usage.
  static Status parse(std::string_view text, BatchRamp &out);
  bool isNone() const { return start == 0; }
  /// Of the step behind `consumed` samples, on the way to `last`: in equal
  /// parts of `samples`, one for each increment. In double, as Megatron-LM
  /// counts.
  int64_t batchAt(int64_t consumed, int64_t last) const;
};

/// Steps of a run that have batches of one size, up to the next part.
struct BatchPart {
  int64_t batch = 0;       ///< samples of a step
  int64_t firstStep = 1;   ///< from 1
  int64_t firstSample = 0; ///< of that step
};

/// Which steps of a run there are, and where its samples begin.
struct StepRange {
  int64_t done = 0;  ///< steps before the first
  int64_t last = 0;  ///< step
  int64_t first = 0; ///< sample of the first step
};

/// The first steps of a run.
struct StepCount {
  int64_t steps = 0;
  int64_t samples = 0; ///< of these
  bool operator==(const StepCount &) const = default;
};

/// The samples of a run's steps, or of an evaluation's batches: a function of
/// those that were read before, so any run that goes on from there has them.
class StepBatches {
public:
  /// For a program and the keys `global_batch_size` and `rampup_batch_size`:
  /// it must have entries for all batches that steps of `range` have.
  /// `ramps`: not of an evaluation. Errors: usage, with what to compile.
  static Status plan(const Recipe &recipe, const Descriptor &program,
                     const StepRange &range, bool ramps, StepBatches &out);

  /// As many steps, from the first one on, as have no more than `samples`
  /// together. Errors: usage, as above but for batches that a program lacks.
  static Status countSteps(const Recipe &recipe, const Descriptor &program,
                           int64_t samples, StepCount &out);

  const std::vector<BatchPart> &parts() const { return parts_; }
  /// Samples of a step of the range, or behind it.
  int64_t of(int64_t step) const { return partOf(step).batch; }
  /// Its first sample; INT64_MAX for what is beyond.
  int64_t firstSample(int64_t step) const;
  /// Of evaluations: where a ramp ends.
  int64_t ofEvaluation() const { return last_; }

private:
  const BatchPart &partOf(int64_t step) const;

  std::vector<BatchPart> parts_; ///< at least one
  int64_t last_ = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_STEP_BATCHES_H
