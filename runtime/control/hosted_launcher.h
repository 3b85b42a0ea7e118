//===- hosted_launcher.h - ranks over MPI without a launcher ----*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_HOSTED_LAUNCHER_H
#define MTC_RUNTIME_CONTROL_HOSTED_LAUNCHER_H

#include "mtc/runtime/run.h"
#include "runtime/train/job.h"

namespace mtc::runtime {

/// Starts this process's command line again, once per rank, all on this host,
/// and waits for them as launchProcesses does; again from the last checkpoint,
/// if restarts are asked for. `job` is of these options. Errors: those of the
/// ranks, and of Restarts::prepare.
Status launchHostedRanks(const RunOptions &options, Job &job);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_HOSTED_LAUNCHER_H
