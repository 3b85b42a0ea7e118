//===- evaluation.h - the loss of data that are not trained on --*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_EVALUATION_H
#define MTC_RUNTIME_TRAIN_EVALUATION_H

#include "runtime/data/sources.h"
#include "runtime/program/rank.h"
#include "runtime/train/data.h"
#include "runtime/train/schedule.h"

namespace mtc::runtime {

/// Evaluations while a run trains.
struct EvaluationOrder {
  int64_t interval = 0; ///< steps between two; 0: there is none
  int64_t batches = 0;  ///< global batches of each
  SourceFiles source = {};
  /// Each reads the samples behind those of the one before, as Megatron-LM
  /// does; else all read the first ones.
  bool goesOn = false;

  /// Behind every interval, and behind the last step.
  bool due(int64_t step, int64_t lastStep) const {
    return interval > 0 && (step % interval == 0 || step == lastStep);
  }
  /// The first sample of the evaluation behind a step: a function of the step
  /// alone, so that a run that was continued reads what one would have read
  /// that was not.
  int64_t firstSample(int64_t step, int64_t globalBatch) const {
    return goesOn ? (step - 1) / interval * batches * globalBatch : 0;
  }
  /// How many, each of samples of its own, a run of so many steps may have.
  int64_t most(int64_t steps) const {
    return goesOn ? steps / interval + 1 : 1;
  }
};

/// Forward-only passes. It has a step block of its own: nothing of training
/// depends on whether there was an evaluation.
class Evaluation {
public:
  Evaluation(RankState &rank, const Recipe &recipe)
      : rank_(rank), schedule_(recipe) {}

  /// One global batch, which `loader` was turned to; its number counts batches
  /// from 1. All ranks call it; `loss`, its mean over tokens, is right on last
  /// stages. Errors: those of the rank's calls.
  Status batch(const EntryInfo &entry, TokenLoader &loader,
               const GlobalBatch &batch, Observer *observer, float &loss);

private:
  RankState &rank_;
  StepSchedule schedule_;
  MtcStepOrder order_{};
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_EVALUATION_H
