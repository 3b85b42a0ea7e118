//===- hosted_rank.h - one rank of a job of many processes ------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_HOSTED_RANK_H
#define MTC_RUNTIME_CONTROL_HOSTED_RANK_H

#include "mtc/runtime/run.h"
#include "runtime/rendezvous/launch_place.h"

namespace mtc::runtime {

/// Runs the rank as which a launcher started this process, here, over MPI. Rank
/// 0 prepares the run as the launcher of one host does, and gives the job to
/// the others, whose own options do not count; the rank that logs opens the
/// log. All files are those of a file system that all hosts share. Errors:
/// those of a rank; peerDied with the name of the rank that failed; those of
/// ControlChannel::open and loadMpi.
Status runHostedRank(const RunOptions &options, const LaunchPlace &place);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_HOSTED_RANK_H
