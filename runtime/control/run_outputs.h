//===- run_outputs.h - the files that a run writes --------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_RUN_OUTPUTS_H
#define MTC_RUNTIME_CONTROL_RUN_OUTPUTS_H

#include "mtc/runtime/run.h"
#include "runtime/control/log_file.h"
#include "runtime/train/job.h"

#include <vector>

namespace mtc::runtime {

/// The outputs of one run, this run's alone while it lives.
class RunOutputs {
public:
  /// Checks all files of a run of `ranks` ranks (run_files.h), makes the
  /// folders of dumps, and tries before the first step whether files can be
  /// written. Errors: usage, writeFailed.
  static Status check(const RunOptions &options, const Job &job, int64_t ranks);

  /// Locks what the ranks write together, each by an empty file <name>.lock
  /// beside it, and opens the log. The last thing before ranks start: an
  /// earlier log is renamed here. Errors: those of LogFile::open.
  Status open(const RunOptions &options, Job &job);

private:
  std::vector<FileLock> locks_;
  LogFile log_;
};

/// Removes what ranks that failed left beside the job's files.
void removeLeftovers(const Job &job);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_RUN_OUTPUTS_H
