//===- run.h - one run of a plan --------------------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_NCCL_RUN_H
#define MTC_TEST_CUDA_NCCL_RUN_H

#include "test/cuda/driver/hooks.h"
#include "test/cuda/nccl/launch.h"

namespace mtc::standin::nccl {

class Run;

/// What the driver copies for each run of an operation.
struct RunArguments {
  Plan *plan;
  Run *run; ///< null before it has started
};

/// The step of the driver's operation.
MtcStandinProgress stepRun(MtcStandinPhase phase, void *arguments);

} // namespace mtc::standin::nccl
#endif // MTC_TEST_CUDA_NCCL_RUN_H
