//===- rank_process.h - one rank as a process -------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_RANK_PROCESS_H
#define MTC_RUNTIME_CONTROL_RANK_PROCESS_H

#include "runtime/program/program.h"

namespace mtc::runtime {

/// What the launcher puts into the environment of a rank, beside MTC_SHM_FD.
inline constexpr const char *kRankVariable = "MTC_RANK";
/// A descriptor from which the job's text (job.h) is read.
inline constexpr const char *kJobVariable = "MTC_JOB_FD";

/// Runs `program` as the rank that the environment names, over shm. Prints
/// "error: ..." on failure and returns the exit code (StatusCode).
int runRankProcess(Program program);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_RANK_PROCESS_H
