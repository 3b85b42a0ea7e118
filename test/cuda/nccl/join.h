//===- join.h - ranks become a communicator ---------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_NCCL_JOIN_H
#define MTC_TEST_CUDA_NCCL_JOIN_H

#include "test/cuda/nccl/job.h"

namespace mtc::standin::nccl {

/// What the real library refuses in a configuration; null is a good one.
ncclResult_t checkConfig(const ncclConfig_t *config);

/// Joins the ranks of an id. `comm` has just been made.
std::unique_ptr<Job> makeJoin(ncclComm_t comm, const ncclUniqueId &id,
                              std::string who);

/// Splits `parent`. `child` is null where this rank has no colour; its rank and
/// size become known here.
std::unique_ptr<Job> makeSplit(ncclComm_t parent, ncclComm_t child, int color,
                               int key);

} // namespace mtc::standin::nccl
#endif // MTC_TEST_CUDA_NCCL_JOIN_H
