//===- trainer.h - what a rank does from start to end -----------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_TRAINER_H
#define MTC_RUNTIME_TRAIN_TRAINER_H

#include "runtime/program/rank.h"
#include "runtime/train/data.h"
#include "runtime/train/job.h"
#include "runtime/train/metrics.h"
#include "runtime/train/pieces.h"
#include "runtime/train/schedule.h"

#include <atomic>

namespace mtc::runtime {

/// How a rank and its launcher talk while it runs. Pointers may be null.
struct TrainerSignals {
  /// True: stop at the end of the step (interrupted).
  const std::atomic<bool> *stop = nullptr;
  /// The step in progress, for the launcher's messages.
  std::atomic<int64_t> *step = nullptr;
};

/// One run of one rank: initialise, dump, train or evaluate, save.
class Trainer {
public:
  Trainer(RankState &rank, const Job &job, TrainerSignals signals = {});

  /// Every rank of the mesh calls it; a failure makes the other ranks' calls
  /// fail, too. Allocates nothing after the first step, unless a dump is due.
  Status run();

private:
  Status runUnguarded();
  /// Returns when every rank has called it.
  Status meet();
  Status prepare();
  Status fillParams();
  Status train();
  Status trainStep(int64_t step);
  Status checkFinite(int64_t step);
  void report(int64_t step, double seconds);
  Status evaluate();
  /// One forward-only pass over global batch `index`; the loss on last stages.
  Status evaluateBatch(const EntryInfo &entry, int64_t index,
                       Observer *observer, float &loss);
  Status dumpLogits(const DumpOrder &dump);
  /// Writes the dumps of this kind and step.
  Status dump(std::string_view what, int64_t step);
  Status write(const std::string &file, const std::vector<Piece> &pieces);

  RankState &rank_;
  const Job &job_;
  TrainerSignals signals_;
  StepSchedule schedule_;
  TokenLoader loader_;
  StepLog log_;
  Progress progress_;
  const EntryInfo *entry_ = nullptr; ///< train
  MtcStepBlock block_{};             ///< of the step in progress
  StepResult result_;                ///< of the last step
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_TRAINER_H
