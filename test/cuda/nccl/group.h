//===- group.h - calls between ncclGroupStart and ncclGroupEnd --*- C++ -*-===//
#ifndef MTC_TEST_CUDA_NCCL_GROUP_H
#define MTC_TEST_CUDA_NCCL_GROUP_H

#include "test/cuda/nccl/job.h"
#include "test/cuda/nccl/part.h"

namespace mtc::standin::nccl {

ncclResult_t startGroup();
ncclResult_t endGroup();
/// Ends a group whose calls are not made: a simulation, which estimates nothing
/// here, nor in the real library where it was asked.
ncclResult_t dropGroup();

/// Takes a call: now, or with the others of this thread's group. The call has
/// been checked.
ncclResult_t issue(ncclComm_t comm, const Request &request, CUstream stream);

/// The same with a call that makes a communicator.
ncclResult_t issue(std::unique_ptr<Job> job);

/// A call of a group was refused: the whole group is.
ncclResult_t remember(ncclResult_t result);

} // namespace mtc::standin::nccl
#endif // MTC_TEST_CUDA_NCCL_GROUP_H
