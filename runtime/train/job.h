//===- job.h - what every rank of a run is told -----------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_JOB_H
#define MTC_RUNTIME_TRAIN_JOB_H

#include "mtc/runtime/model_flops.h"
#include "mtc/runtime/recipe.h"
#include "runtime/base/status.h"
#include "runtime/checkpoint/commit.h"
#include "runtime/data/sources.h"
#include "runtime/train/evaluation.h"
#include "runtime/train/step_batches.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// A dump with its defaults filled in.
struct DumpOrder {
  std::string what;       ///< init, logits, grads, params
  int64_t step = 0;       ///< grads: within this step; params: after it
  std::string file;       ///< the safetensors file to write
  std::string parts = {}; ///< a folder for its parts, this run's alone
};

/// A trace of steps in a row, as a file that ranks write together.
struct TraceOrder {
  int64_t first = 0, last = 0; ///< 0: no trace
  std::string file, parts = {};
  int64_t origin = 0; ///< traceNow() where its times begin
  /// `first` is that of this run, wherever it begins. Ranks are not told.
  bool fromStart = false;

  bool has(int64_t step) const {
    return first > 0 && step >= first && step <= last;
  }
};

/// How long ops take, from steps behind some that warm up to the last; a file
/// of each rank.
struct ProfileOrder {
  std::string folder; ///< that is there; empty: no profile
  int64_t warmUp = 0; ///< steps of this run

  bool isWanted() const { return !folder.empty(); }
};

/// Where the run saves, and what it continues.
struct CheckpointOrder {
  CheckpointPlace place; ///< root empty: nowhere
  int64_t interval = 0;  ///< steps between two; 0: at the end only
  int64_t keep = 0;      ///< the newest ones; 0: all
  bool async = false;    ///< written beside training, from snapshots
  std::string resume;    ///< the folder of a whole one; empty: the run is new
  RunPosition start{};   ///< of that one
};

/// What a run tells while it trains, beside the log's file.
struct ReportOrder {
  int64_t interval = 1;  ///< steps of one line
  int64_t timing = 0;    ///< the level of named times; 0: none
  bool megatron = false; ///< Megatron-LM's lines on standard output
  std::string header;    ///< the line before the first step, newline included
  std::string events;    ///< a folder of TensorBoard's files; empty: none
  double peak = 0;       ///< TFLOP/s of a rank; 0: nobody said
  std::vector<ModelFlops> flops; ///< by tokens of a sample; none: not known

  /// Of samples of so many tokens; 0: not known.
  double flopsPerToken(int64_t seq) const {
    for (const ModelFlops &of : flops)
      if (of.seq == seq)
        return of.perToken;
    return 0;
  }
};

/// When a run ends before its last step, to be continued by another one.
struct EarlyEnd {
  int64_t interval = 0; ///< behind the next step that it divides; 0: not
  double seconds = 0;   ///< behind the step in progress then; 0: not

  /// A job that starts again has what is left of its time.
  void spend(std::chrono::duration<double> time) {
    constexpr double kLeast = 1e-3; // 0: no limit
    if (seconds > 0)
      seconds = std::max(kLeast, seconds - time.count());
  }
};

struct Job {
  std::string plan; ///< the hash of the plan that ranks run
  Recipe recipe;
  std::vector<DumpOrder> dumps;
  std::string initFrom, saveTo, logFile; ///< empty: none
  std::string saveParts;                 ///< a folder for the parts of saveTo
  TraceOrder trace;
  ProfileOrder profile;
  CheckpointOrder checkpoints;
  EarlyEnd early;
  ReportOrder report;
  bool nccl = false;       ///< between GPUs
  bool graphs = true;      ///< of walks, where the device keeps them
  int gpu = -1;            ///< the host's that somebody chose; -1: nobody
  std::string gemmTable;   ///< of products on GPUs; empty: none
  int logFd = -1;          ///< of logFile, at its end; inherited
  bool logAlone = false;   ///< nobody else writes it
  int64_t evalBatches = 0; ///< > 0: evaluate only
  int64_t evalFirst = 0;   ///< the first sample of that
  /// Where samples come from, one for each length of them: of training, or of
  /// an evaluation without. Known once data were checked.
  std::vector<SourceFiles> sources;
  EvaluationOrder evaluation;    ///< while training
  int progressFd = -1;           ///< -1: no progress line
  bool progressRewrites = false; ///< a terminal: one line, rewritten

  /// Global batches that ranks begin, one after the other.
  int64_t passes() const { return evaluates() ? evalBatches : recipe.steps; }
  bool evaluates() const { return evalBatches > 0; }
  /// Null: none was prepared.
  const SourceFiles *source(int64_t seq) const {
    auto found = std::ranges::find(sources, seq, &SourceFiles::seq);
    return found == sources.end() ? nullptr : &*found;
  }
  /// The batch before the first one, from 1.
  int64_t startStep() const { return evaluates() ? 0 : checkpoints.start.step; }
  /// The samples of its batches, in a program. What was trained on before the
  /// run began may have been in batches of another size. Errors:
  /// StepBatches::plan.
  Status planBatches(const Descriptor &program, StepBatches &out) const {
    return StepBatches::plan(
        recipe, program,
        {startStep(), passes(),
         evaluates() ? evalFirst : checkpoints.start.samples},
        /*ramps=*/!evaluates(), out);
  }
};

/// The form in which the launcher hands a job to a process: MessagePack.
std::string packJob(const Job &job);
/// Errors: inputRejected, every field that is missing or of another type.
Status unpackJob(std::string_view bytes, Job &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_JOB_H
