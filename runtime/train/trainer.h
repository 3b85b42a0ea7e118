//===- trainer.h - what a rank does from start to end -----------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_TRAINER_H
#define MTC_RUNTIME_TRAIN_TRAINER_H

#include "runtime/base/step_gate.h"
#include "runtime/pieces/pieces.h"
#include "runtime/program/rank.h"
#include "runtime/program/trace.h"
#include "runtime/train/checkpoint_files.h"
#include "runtime/train/data.h"
#include "runtime/train/evaluation.h"
#include "runtime/train/issue_times.h"
#include "runtime/train/job.h"
#include "runtime/train/loss_scaler.h"
#include "runtime/train/not_finite.h"
#include "runtime/train/schedule.h"
#include "runtime/train/step_batches.h"
#include "runtime/train/step_lengths.h"
#include "runtime/train/step_report.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace mtc::runtime {

/// How a rank and its launcher talk while it runs.
struct TrainerSignals {
  /// True: this process was asked to stop.
  const std::atomic<bool> &stop;
  /// All ranks end behind the same step.
  StepGate gate;
  /// Grows when this process is asked for a checkpoint; null: another one
  /// hears that.
  const std::atomic<int> *saves = nullptr;
  /// The step in progress, for the launcher's messages; may be null.
  std::atomic<int64_t> *step = nullptr;
  /// Grows with each batch that is evaluated between steps; may be null.
  std::atomic<int64_t> *beats = nullptr;
  /// Called once all ranks have what they load of a checkpoint; may be empty.
  std::function<void()> loaded = {};
  /// Called once with how a run failed, before the rank waits for what is still
  /// in its device's queue; may be empty.
  std::function<void(const Status &)> failed = {};
};

/// One run of one rank: initialise, dump, train or evaluate, save. It saves at
/// every orderly end, which all ranks reach behind the same step: the last one,
/// a stop that was asked for, a loss or norm that is not finite, data that
/// cannot be read any more. A dump, trace or profile that cannot be written
/// ends no run; that is said at once, and its end is a failure.
class Trainer {
public:
  Trainer(RankState &rank, const Job &job, TrainerSignals signals);

  /// Every rank of the mesh calls it; a failure makes the other ranks' calls
  /// fail, too. Allocates nothing after the first step, unless a dump is due
  /// or a device keeps the rows of a step.
  Status run();

private:
  /// A step that was issued, up to its results.
  struct IssuedStep {
    int64_t step = 0;
    const EntryInfo *entry = nullptr;
    int64_t rows = 0; ///< that are issued, from the first
    MtcStepOrder order{};
    std::optional<StepResult> result{};            ///< none: nobody has read it
    std::chrono::steady_clock::time_point ended{}; ///< when it was read
    RankTrace *trace = nullptr;                    ///< null: none is kept
    HostIssue host{}; ///< of a device that keeps its rows
    /// When it was issued, or the step before was done, if that was later.
    std::chrono::steady_clock::time_point began{};

    bool isWhole() const { return rows == entry->length; }
  };
  /// What the steps with samples of one length have of their own.
  struct OfLength {
    TokenLoader loader;
    std::map<int64_t, const EntryInfo *> train; ///< by samples of a step
    const EntryInfo *eval = nullptr;            ///< null: there is none
  };
  /// The tokens of a sample of a step, from 1, or of an evaluation.
  int64_t seqOf(int64_t step) const {
    return job_.evaluates() ? lengths_.ofEvaluation() : lengths_.of(step);
  }
  OfLength &of(int64_t step) { return ofLengths_.at(seqOf(step)); }
  /// The entry of evaluations; null if there is none.
  const EntryInfo *evaluationEntry() const {
    return ofLengths_.at(lengths_.ofEvaluation()).eval;
  }
  /// The samples of a step, from 1, or of a batch of an evaluation.
  GlobalBatch batchOf(int64_t step) const {
    return {step, batches_.firstSample(step), batches_.of(step)};
  }

  // From start to end (trainer.cpp).
  Status runUnguarded();
  /// How a run without failures ended: early, or with outputs that could not be
  /// written.
  Status ending() const;
  /// Behind an output that all ranks have tried to write: what failed of it on
  /// this rank is told at the end. Other errors, such as those of the device,
  /// which end the run.
  Status noteLost(const Status &written);
  /// The same of one that is no result of the run, and said at once.
  Status goOnWithout(const Status &written);
  /// Returns when every rank has called it, with whether any failed.
  Status meet(bool failed, bool &anyFailed);
  /// Returns when every rank has called it.
  Status meet();
  Status prepare();
  /// Opens the data of each length of the run, and finds its entries.
  Status openLengths();
  Status openLength(int64_t seq, OfLength &own);
  /// Of a run with a step to train, which uses all arenas.
  void populate();
  Status fillParams();
  Status load();
  /// Whether `step` is to be run; else `end_` says why not.
  Status begin(int64_t step, bool &runs);
  /// Passes on that this process was asked for a checkpoint.
  void hearOfSaves();
  /// Whether the run is to end behind a step. With an interval all ranks find
  /// so; whose time is over ends it for all.
  bool endsEarly(int64_t done) const;
  /// Reads the data of the next step ahead of `step`: without them the run ends
  /// behind `step`, if a rank has begun it, or before it.
  void lookAhead(int64_t step);
  Status save();
  /// What is to be found at the end of a run: unless the last step is saved, it
  /// is now. Says so where the run ended early. One that cannot be written is
  /// told at the end.
  Status lastCheckpoint();
  /// Behind the last step that is done.
  RunPosition position() const;
  /// Of a run that trains nothing.
  Status evaluate();
  /// Of a run that trains, behind a step.
  Status evaluateBehind(int64_t step);
  /// One forward-only pass over global batch `index`, which `begin` let begin;
  /// the loss on last stages.
  Status evaluateBatch(int64_t index, Observer *observer, float &loss);
  Status dumpLogits(const DumpOrder &dump);
  /// Whether there is a dump of this kind and step.
  bool dumps(std::string_view what, int64_t step) const;
  /// Writes the dumps of this kind and step.
  Status dump(std::string_view what, int64_t step);
  Status write(const SharedFile &file, const std::vector<Piece> &pieces);

  // Steps (trainer_steps.cpp).
  Status train();
  /// Issues a step, whatever becomes of one that is awaited.
  Status issue(int64_t step, IssuedStep &out);
  /// How many rows of a step are issued before its result is read: all, where
  /// the device decides by itself whether it is updated and nobody wants to see
  /// its gradients; else those up to the norm.
  int64_t rowsBeforeResult(int64_t step, const EntryInfo &entry) const;
  /// Whether the results of a step that is awaited are read once the next one
  /// is issued: where the device keeps all of its rows, and nothing but its
  /// line in the log depends on them.
  bool isReadLater(int64_t step) const;
  /// Waits for the step that is awaited, if there is one, and does all that
  /// comes behind it. `next` was issued meanwhile; null: none was. A step that
  /// ends the run leaves `done_` behind.
  Status await(IssuedStep *next = nullptr);
  /// Waits for the results of a step, if nobody has read them.
  Status readResult(IssuedStep &of);
  /// Of a step whose results are read: what of it is not issued, or why there
  /// is none. `next`: as of `await`.
  Status finishStep(const IssuedStep &now, IssuedStep *next);
  /// Counts what a step has read, and that it is done.
  void countDone(const IssuedStep &now);
  /// What a run does between steps.
  Status behind(int64_t step);
  /// Seconds since the step that was read last began.
  double sinceStart() const;
  /// Logs a step; one that failed with what was not finite.
  void report(int64_t step, const NotFinite *failed = nullptr);

  // Steps that update nothing (trainer_skips.cpp).
  /// Ends a step whose gradients are scaled and not finite: nothing changes but
  /// the scale, and the samples are used up. If parameters are not finite no
  /// scale helps, and training ends before it.
  Status skipUpdate(const IssuedStep &now, IssuedStep *next);
  /// Issues what is left of a skipped step: all rows but `apply`, as others
  /// wait for them.
  Status endRowsOfSkipped(const IssuedStep &now);
  /// Behind the first of skipped steps: whether a parameter is not finite,
  /// which ends training before `now`. Not where `next` is updated: then
  /// training goes on, whatever parameters it has no use for.
  Status lookAtParameters(const IssuedStep &now, IssuedStep *next, bool &ends);
  /// Says so where skipping has become useless.
  void warnOfSkips(int64_t step) const;
  /// Ends training before the update of a step whose norm is not finite.
  Status endNotFinite(int64_t step);
  /// The same where the norm is finite, and squares of gradients are not.
  Status endTooLarge(int64_t step);
  Status endWith(int64_t step, const NotFinite &found);
  /// `now` ends the run, and the next one added to its gradients: computes
  /// those of `now` again.
  Status computeAgain(const IssuedStep &now);

  // What is counted of updates (trainer_counts.cpp).
  /// What a step counts of those before it that were no updates.
  GlobalBatch countedBatch(int64_t step) const;
  /// Fills the order of a step.
  void fillOrder(int64_t step, MtcStepOrder &order);
  /// Whether a device that counts by itself had the rates and the scale of a
  /// step that the host would have given it. Errors: internal.
  Status checkRates(const IssuedStep &now) const;
  /// The same of what it counted behind the step.
  Status checkUpdates(const IssuedStep &now) const;

  // What steps took (trainer_traces.cpp).
  /// Whether a step has a trace: it is one of the order, or times are taken.
  bool isTraced(int64_t step) const;
  /// From here on what is done is noted in the trace of a step; null: it has
  /// none.
  RankTrace *beginTrace(int64_t step);
  /// Of a step that is done: all that is noted of how long it took.
  Status takeTimes(const IssuedStep &now);
  /// Keeps the times of a step, writes the file behind the last one.
  Status takeTrace(int64_t step, const RankTrace &trace);
  /// Whether a trace is told beside what the host has of steps that a device
  /// keeps: those that are traced are issued row by row.
  bool timesHost() const;
  /// The step behind which the file of traces is written again, with the host's
  /// part of the steps up to there: some behind the last that is traced, or
  /// that one, if the host is not timed.
  int64_t hostTracedBehind() const;
  /// With the host's part, if it is timed, which is said, too.
  Status writeTraces();
  /// With this part; null: none.
  Status writeTraces(const Json &host);
  /// Sums the times of a step, writes the file behind the last.
  Status takeProfile(int64_t step);

  /// Of the steps that are traced. They live as long as this: collectives that
  /// a failed step left in a queue of their own still write to it.
  std::vector<std::unique_ptr<RankTrace>> traces_;
  bool tracesHost_ = false; ///< the file is there, without the host's part
  IssueTimes host_;
  RankProfile profile_; ///< likewise
  RankTrace spans_;     ///< of a step whose trace is not kept
  StepTimes times_;     ///< since the last line
  TimesOverRanks timesOverRanks_;
  RankState &rank_;
  const Job &job_;
  TrainerSignals signals_;
  StepSchedule schedule_;
  LossScaler scaler_;
  CheckpointFiles checkpoints_;
  std::chrono::steady_clock::time_point began_;
  StepLengths lengths_;
  StepBatches batches_;
  std::map<int64_t, OfLength> ofLengths_; ///< by tokens of a sample
  Evaluation evaluation_;
  TokenLoader heldOut_; ///< what is evaluated while training
  StepReport report_;
  Status end_;         ///< why training ended early, in order
  Status lost_;        ///< the first output that this rank could not write
  int64_t done_ = 0;   ///< the last step that is done, or was skipped
  int64_t tokens_ = 0; ///< up to that one
  int64_t skipped_ = 0, skippedSamples_ = 0; ///< up to that one
  bool lookedAtParameters_ = false;          ///< since the last update
  std::optional<IssuedStep> awaited_;        ///< nobody has read its results
  StepResult result_;                        ///< of the last that was read
  int savesHeard_ = 0;                       ///< of signals_.saves
  /// When the step that was read last began, and what it took.
  std::chrono::steady_clock::time_point started_;
  double seconds_ = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_TRAINER_H
