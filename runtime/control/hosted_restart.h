//===- hosted_restart.h - what a run over MPI goes on from ------*- C++ -*-===//
//
// No MPI library begins twice in a process, and none goes on once a peer died:
// all ranks of a run that starts again are new processes. The launcher tells
// them by the environment what has changed since the first ones.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CONTROL_HOSTED_RESTART_H
#define MTC_RUNTIME_CONTROL_HOSTED_RESTART_H

#include "mtc/runtime/run.h"
#include "runtime/train/job.h"

namespace mtc::runtime {

/// Whether launchHostedRanks started this process.
bool isHosted();

struct HostedRestart {
  bool again = false;
  int64_t step = 0;     ///< behind which it goes on
  double seconds = 0;   ///< since the first start
  int64_t logBytes = 0; ///< of the log, before the lines of this run

  /// Of this process's environment; not `again` without it. Errors: usage.
  static Status find(HostedRestart &out);
  std::string environment() const;
  /// The run goes on with its last checkpoint and its log.
  void change(RunOptions &options) const;
  /// It has the time that is left, and the plan of the first start.
  void change(Job &job) const;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_HOSTED_RESTART_H
