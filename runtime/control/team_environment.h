//===- team_environment.h - what threads of ranks inherit -------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_TEAM_ENVIRONMENT_H
#define MTC_RUNTIME_CONTROL_TEAM_ENVIRONMENT_H

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Variables ("NAME=value") for the OpenMP runtime of a rank that has `threads`
/// and shares `cores` with ranks that have `onHost` threads in all: how many it
/// has, and how long they spin before they sleep, unless somebody said so in
/// this process's environment (GOMP_SPINCOUNT, OMP_WAIT_POLICY). Threads that
/// spin on a core which another rank needs cost more than it takes to wake
/// them, so then they sleep at once.
std::vector<std::string> teamVariables(int64_t threads, int64_t onHost,
                                       int64_t cores);

/// What to tell who starts `ranks` ranks of `threads` threads on one host where
/// they may have `cores`; empty: nothing. Ranks may share cores, as eight do on
/// a laptop; threads of one rank should not, as each kernel ends with its last.
std::string teamNote(int64_t ranks, int64_t threads, int64_t cores);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_TEAM_ENVIRONMENT_H
