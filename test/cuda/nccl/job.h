//===- job.h - a call that may have to wait for other ranks -----*- C++ -*-===//
//
// Calls of communicators that block run their jobs to the end. Those of the
// others leave them behind: each question for the asynchronous error goes on
// with one, and nothing else does.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_NCCL_JOB_H
#define MTC_TEST_CUDA_NCCL_JOB_H

#include "test/cuda/nccl/nccl_api.h"

#include <memory>
#include <string>
#include <vector>

namespace mtc::standin::nccl {

class Job {
public:
  virtual ~Job() = default;
  /// ncclInProgress: it has to be asked again. Never waits.
  virtual ncclResult_t step() = 0;
  /// "ncclCommInitRank of communicator 1, rank 0 of 2: rank 1 is missing".
  virtual std::string describe() const = 0;
  /// Whose state says how far this is.
  ncclComm_t of = nullptr;
};

/// Runs jobs side by side. The first error; ncclInternalError and a sentence in
/// the report if they take longer than MTC_STANDIN_PATIENCE.
ncclResult_t finish(const std::vector<std::unique_ptr<Job>> &jobs);

/// Runs a job to the end, or, if its communicator does not block, leaves it
/// there: ncclInProgress.
ncclResult_t finishOrLeave(std::unique_ptr<Job> job);

} // namespace mtc::standin::nccl
#endif // MTC_TEST_CUDA_NCCL_JOB_H
