//===- hosted_launcher.h - ranks over MPI without a launcher ----*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_HOSTED_LAUNCHER_H
#define MTC_RUNTIME_CONTROL_HOSTED_LAUNCHER_H

#include "mtc/runtime/run.h"

namespace mtc::runtime {

/// Starts this process's command line again, once per rank, all on this host,
/// and waits for them as launchProcesses does; again from the last checkpoint,
/// if restarts are asked for. Errors: those of the ranks, of makeJob and of
/// Restarts::prepare.
Status launchHostedRanks(const RunOptions &options);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_HOSTED_LAUNCHER_H
