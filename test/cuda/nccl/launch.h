//===- launch.h - calls become an operation of a stream ---------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_NCCL_LAUNCH_H
#define MTC_TEST_CUDA_NCCL_LAUNCH_H

#include "test/cuda/nccl/job.h"
#include "test/cuda/nccl/part.h"

#include <cuda.h>

#include <memory>
#include <string>
#include <vector>

namespace mtc::standin::nccl {

/// What one communicator has to do in a group, or in one call.
struct Plan {
  ncclComm_t comm = nullptr;
  std::vector<Request> requests;
  /// Of the calls, each once; the operation is in the first, and ordered with
  /// the others as the calls are.
  std::vector<CUstream> streams;
  std::string name; ///< for messages
  bool captured = false;
};

/// Puts a plan into its streams, once the ranks that it concerns have made
/// their first such call, too: until then the first call blocks its thread, as
/// in the real library.
std::unique_ptr<Job> makeLaunch(std::shared_ptr<Plan> plan);

/// Runs what a communicator has in streams, by asking for them. `who` is for
/// messages.
std::unique_ptr<Job> makeDrain(ncclComm_t comm, std::string who);

/// The end of an abort. Memory is freed, for which the real library waits for
/// all that the GPU has been given. Here for calls of communicators that are
/// not aborted, which may hang, unless that is done in the same group
/// (from 2.22 on); kernels end by themselves, and are not waited for.
std::unique_ptr<Job> makeRelease(ncclComm_t comm);

} // namespace mtc::standin::nccl
#endif // MTC_TEST_CUDA_NCCL_LAUNCH_H
