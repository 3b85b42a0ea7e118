//===- figures.h - what a schedule costs and holds --------------*- C++ -*-===//
//
// What people ask of a schedule, for text, JSON and drawings: counted over its
// lists and simulated, beside the closed forms of the registry.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_FIGURES_H
#define MTC_PASSES_PIPELINE_SCHEDULES_FIGURES_H

#include "passes/pipeline/schedules/generators.h"

namespace mtc::schedules {

/// The parts of a stage's list: slots [0, steady) are the warm-up, [steady,
/// coolDown) the steady state, in which forwards and backwards take turns, and
/// the rest the cool-down.
struct Sections {
  size_t steady = 0, coolDown = 0;
};

/// Warm-up is all forwards before the first backward but the one that is paired
/// with it: the steady state begins with a forward. It ends with the backward
/// (and weight gradients) that follow the last forward. Where no forward comes
/// behind a backward there is no steady state, unless the schedule's formula
/// says that its last forward is paired (a list cannot tell).
Sections sectionsOf(const Schedule &schedule, int stage);

struct StageFigures {
  Sections sections;
  int64_t busy = 0; ///< time in slots
  /// Microbatches (of a chunk) between forward and backward at most.
  int inFlight = 0;
  /// Microbatches (of a chunk) between input and weight gradient at most.
  int waiting = 0;
  std::optional<int> inFlightForm; ///< of the registry
};

struct Figures {
  Timing timing;
  int64_t makespan = 0;
  int64_t bubble = 0; ///< makespan less the time of the busiest stage
  std::vector<StageFigures> stages;
  /// The row of the registry that made the schedule, or null: a user's has
  /// none.
  const Generator *generator = nullptr;
  /// Of the registry, where it has one for these sizes: the bubble without
  /// latency, and what each unit of latency adds.
  std::optional<int64_t> bubbleForm, latencyForm;

  /// The bubble as a part of the makespan, in [0, 1].
  double bubbleFraction() const {
    return makespan ? static_cast<double>(bubble) / makespan : 0;
  }
};

/// Expects a schedule without findings, but for `accumulation-order`.
Figures figuresOf(const Schedule &schedule, const Costs &costs,
                  int64_t latency);

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_FIGURES_H
