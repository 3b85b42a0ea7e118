//===- run_outputs.h - the files that a run writes --------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_RUN_OUTPUTS_H
#define MTC_RUNTIME_CONTROL_RUN_OUTPUTS_H

#include "mtc/runtime/run.h"
#include "runtime/control/log_file.h"
#include "runtime/control/parts_folder.h"
#include "runtime/train/job.h"

#include <vector>

namespace mtc::runtime {

/// The outputs of one run, this run's alone while it lives.
class RunOutputs {
public:
  /// Checks all files of a run (output_files.h), makes the folders of dumps,
  /// and tries before the first step whether files can be written. Errors:
  /// usage, writeFailed.
  static Status check(const RunOptions &options, const Job &job);

  /// Locks what the ranks write together, each by an empty file <name>.lock
  /// beside it, makes folders for their parts, and opens the log. The last
  /// thing before ranks start: an earlier log is renamed here. What it made and
  /// found, the job then has. Errors: those of FileLock, PartsFolder and
  /// LogFile.
  Status open(const RunOptions &options, Job &job) {
    MTC_RETURN_IF_ERROR(openShared(job));
    return openLog(options, job);
  }
  /// The two halves of it, where they are done by two processes: that of the
  /// first rank, and that of the rank which logs.
  Status openShared(Job &job);
  Status openLog(const RunOptions &options, Job &job);

  /// Of a run whose ranks start again behind a step: see LogFile.
  Status goOnBehind(int64_t step) { return log_.cutBehind(step); }
  /// The same of a log that other processes began: its lines are those behind
  /// `bytes`.
  Status goOnBehind(int64_t step, int64_t bytes) {
    log_.beginsAt(bytes);
    return log_.cutBehind(step);
  }

private:
  Status prepare(const std::string &file, std::string &parts);
  std::vector<FileLock> locks_;
  std::vector<PartsFolder> folders_;
  LogFile log_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_RUN_OUTPUTS_H
