//===- checkpoint_files.h - ranks save and load checkpoints -----*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_CHECKPOINT_FILES_H
#define MTC_RUNTIME_TRAIN_CHECKPOINT_FILES_H

#include "runtime/program/rank.h"
#include "runtime/train/job.h"

#include <chrono>
#include <functional>
#include <utility>

namespace mtc::runtime {

/// A rank's part in the checkpoints of a run. Every rank calls the same
/// functions, with the same arguments.
class CheckpointFiles {
public:
  /// Rank and job outlive it. `meet` returns when every rank has called it.
  CheckpointFiles(RankState &rank, const Job &job, std::function<Status()> meet)
      : rank_(rank), job_(job), meet_(std::move(meet)) {}

  bool enabled() const { return !job_.checkpoints.place.root.empty(); }
  /// Whether one is to be written behind a step.
  bool due(int64_t step) const;
  /// The last step of which one was to be written, or is in this run's folder,
  /// the same on all ranks; -1: none. And whether this rank wrote its part.
  int64_t tried() const { return tried_; }
  const Status &outcome() const { return outcome_; }

  /// Fills parameters and states from the one that the run continues. Errors:
  /// inputRejected.
  Status load();
  /// Writes one, and removes those that are more than the run keeps. Errors:
  /// writeFailed, of the rank that could not write; the earlier ones are as
  /// they were. Those of the stream and of `meet`.
  Status save(const RunPosition &position);
  /// The same; a rank that cannot write says so on standard error.
  Status saveAndGoOn(const RunPosition &position);

private:
  using Clock = std::chrono::steady_clock;
  Status write(const RunPosition &position);
  /// By one rank, when all have written.
  Status commit(const RunPosition &position, Clock::time_point began);
  /// A line of progress: what is done, and how long it took.
  void tell(const char *done, int64_t step, int64_t elements,
            Clock::time_point began) const;

  RankState &rank_;
  const Job &job_;
  std::function<Status()> meet_;
  int64_t tried_ = -1;
  Status outcome_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_CHECKPOINT_FILES_H
