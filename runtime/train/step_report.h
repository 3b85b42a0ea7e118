//===- step_report.h - what a run tells while it trains ---------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_STEP_REPORT_H
#define MTC_RUNTIME_TRAIN_STEP_REPORT_H

#include "runtime/train/event_file.h"
#include "runtime/train/job.h"
#include "runtime/train/metrics.h"
#include "runtime/train/progress.h"
#include "runtime/train/step_times.h"

namespace mtc::runtime {

/// One step that ended.
struct StepFacts {
  int64_t step = 0;
  float loss = 0;
  double gradNorm = 0;
  float lr = 0;
  int64_t seq = 0;                    ///< tokens of a sample
  int64_t samples = 0;                ///< of the step
  int64_t allSamples = 0;             ///< since the first step
  int64_t allTokens = 0;              ///< since the first step
  double seconds = 0;                 ///< that it took
  std::string_view notFinite = {};    ///< of a step that failed
  std::string_view badParameter = {}; ///< of a step that failed
  // Of runs that scale the loss: the scale, and steps skipped so far.
  std::optional<double> lossScale = {};
  std::optional<int64_t> skippedSteps = {};
  /// Of the steps since the line before; null: they were not taken.
  const TimesOverRanks *times = nullptr;
};

/// Writes log, event file and progress line, as a job orders them. On the rank
/// that logs; elsewhere it is never opened, and silent.
class StepReport {
public:
  /// `ranks` of the whole mesh. The job outlives it.
  StepReport(const Job &job, int64_t ranks);

  /// Opens what the job orders and writes the header, with what ranks agreed on
  /// (Device::chosen). Errors: writeFailed.
  Status open(std::string_view chosen);
  /// Whether a step is one of those that are written if they do not fail. Also
  /// where it is not open.
  bool isDue(int64_t step) const;
  /// Notes a step; writes it if its number says so, it is the last one, or it
  /// failed. Allocates nothing after the first line.
  void step(const StepFacts &facts);
  /// Writes an evaluation.
  void evaluation(const EvaluationRecord &record);
  /// ok, or that lines of a file were lost.
  Status status() const;

private:
  bool writes(const StepFacts &facts) const;
  /// The line of a step, with means since the line before.
  StepRecord recordOf(const StepFacts &facts) const;
  void write(StepRecord record, const TimesOverRanks *times);
  void writeMegatron(const StepRecord &record, const StepFacts &facts);
  void writeEvents(const StepRecord &record, const TimesOverRanks *times);
  /// Whether it is time for the progress line.
  bool shows(const StepFacts &facts) const;
  /// Says how long the rest takes by the pace of the last steps.
  void show(StepRecord record);

  const Job &job_;
  int64_t ranks_;
  StepLog log_, out_; ///< the file, and standard output
  EventFile events_;
  ProgressLine progress_;
  // Since the last line.
  int64_t steps_ = 0, tokens_ = 0, finiteLosses_ = 0;
  int64_t skipped_ = 0; ///< steps, at the line before
  double seconds_ = 0, flops_ = 0, losses_ = 0;
  double pace_ = 0; ///< seconds of a step, by the last ten or so
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_STEP_REPORT_H
