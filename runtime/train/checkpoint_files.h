//===- checkpoint_files.h - ranks save and load checkpoints -----*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_CHECKPOINT_FILES_H
#define MTC_RUNTIME_TRAIN_CHECKPOINT_FILES_H

#include "runtime/checkpoint/manifest.h"
#include "runtime/program/rank.h"
#include "runtime/train/background_write.h"
#include "runtime/train/job.h"
#include "runtime/train/snapshot.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace mtc::runtime {

/// A rank's part in the checkpoints of a run. Every rank calls the same
/// functions, with the same arguments. At most one checkpoint is in progress.
///
/// One that is written beside training (CheckpointOrder::async) begins with a
/// snapshot; a thread of each rank writes it by the same protocol. In front of
/// each step ranks ask each other (`look`) whether all have written; then one
/// of them commits it, on its thread.
class CheckpointFiles {
public:
  /// Rank and job outlive it. `meet` returns when every rank has called it.
  CheckpointFiles(RankState &rank, const Job &job, std::function<Status()> meet)
      : rank_(rank), job_(job), meet_(std::move(meet)) {}

  bool enabled() const { return !job_.checkpoints.place.root.empty(); }
  /// Whether one is to be written behind a step.
  bool due(int64_t step) const;
  /// The last step of which one was to be written, or is in this run's folder,
  /// the same on all ranks; -1: none.
  int64_t tried() const { return tried_; }

  /// Takes the memory of snapshots, if there will be some, and says how much.
  /// Errors: infeasible.
  Status prepare();
  /// Fills parameters and states from the one that the run continues. Errors:
  /// inputRejected.
  Status load();
  /// Writes one, once that in progress is done, and removes those that are more
  /// than the run keeps. Errors: writeFailed, of the rank that could not write;
  /// the earlier ones are as they were. Those of the stream and of `meet`.
  Status save(const RunPosition &position);
  /// The same, or begins to, as the run is told; a rank that cannot write says
  /// so on standard error.
  Status saveAndGoOn(const RunPosition &position);
  /// In front of each step: brings what is in progress forward, without waiting
  /// for files. A rank that could not write says so on standard error.
  Status look();
  /// Waits for what is in progress. How the last one ended on this rank: errors
  /// as of `save`.
  Status finish();

private:
  using Clock = std::chrono::steady_clock;
  enum class Phase { none, writing, committing };
  Status write(const RunPosition &position);
  /// Takes the snapshot that a thread then writes.
  Status begin(const RunPosition &position);
  /// What one rank does when all have written: on this thread or another.
  std::function<Status()> commitWork() const;
  void beginCommit();
  Status finishEarlier();
  /// Says what is wrong with files; the run goes on.
  Status warn(const Status &status) const;

  RankState &rank_;
  const Job &job_;
  std::function<Status()> meet_;
  /// Of the checkpoint that was loaded: samples of lengths that this run does
  /// not read, and a later one may, came in these.
  SampleOrders orders_;
  int64_t tried_ = -1;
  Status outcome_; ///< of that one, on this rank

  Phase phase_ = Phase::none;
  RunPosition position_;         ///< of the one in progress
  Clock::time_point began_;      ///< it
  std::optional<double> waited_; ///< seconds that training waited for it
  float written_ = 0;            ///< ranks whose threads have written it
  BackgroundWrite writer_;       ///< of files, then of the commit
  /// Shared with the writer, which may outlive this.
  std::shared_ptr<Snapshot> snapshot_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_CHECKPOINT_FILES_H
