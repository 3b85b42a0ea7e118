//===- preparation.h - what is done once, before ranks start ----*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_PREPARATION_H
#define MTC_RUNTIME_CONTROL_PREPARATION_H

#include "runtime/control/bundle.h"
#include "runtime/control/run_checkpoints.h"
#include "runtime/control/run_outputs.h"
#include "runtime/control/signals.h"

namespace mtc::runtime {

/// A descriptor of standard error for the progress line: ranks have a pipe
/// there. Closed by the destructor.
class ProgressFd {
public:
  ProgressFd() = default;
  ProgressFd(const ProgressFd &) = delete;
  ProgressFd &operator=(const ProgressFd &) = delete;
  ~ProgressFd();
  /// The job then has it.
  void open(ProgressKind kind, Job &job);

private:
  int fd_ = -1;
};

/// Whether a bundle has as many ranks as are expected; 0: any number. Errors:
/// usage.
Status checkRanks(int64_t expected, const Bundle &bundle);

/// Says teamNote of a run on CPUs whose ranks are all of this host, unless it
/// is quiet.
void sayTeamNote(const RunOptions &options, const Bundle &bundle);

/// Checks inputs and outputs of a run and finds the checkpoint that it goes on
/// from. Holds files and locks until the ranks have ended.
class Preparation {
public:
  /// All but the outputs, which are opened last. The job then has what ranks
  /// must know. Errors: those of RunOutputs::check, checkWeights,
  /// RunCheckpoints::open, checkData.
  Status begin(const RunOptions &options, CommKind comm, const Bundle &bundle,
               const SignalWatch &signals, Job &job);
  RunCheckpoints &checkpoints() { return checkpoints_; }
  RunOutputs &outputs() { return outputs_; }

private:
  RunCheckpoints checkpoints_;
  ProgressFd progress_;
  RunOutputs outputs_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_PREPARATION_H
