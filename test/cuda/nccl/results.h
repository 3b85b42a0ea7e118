//===- results.h - what calls return, and why -------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_NCCL_RESULTS_H
#define MTC_TEST_CUDA_NCCL_RESULTS_H

#include "test/cuda/nccl/nccl_api.h"

#include <string>

namespace mtc::standin::nccl {

/// Returns `result`, and has ncclGetLastError say `sentence`: one that the real
/// library has.
ncclResult_t refuse(ncclResult_t result, const std::string &sentence);

/// The same of a rule that is of this library alone: the sentence goes to the
/// report as well.
ncclResult_t refuseStrictly(ncclResult_t result, const std::string &sentence);

/// What an error of the driver is here; ncclSuccess of none.
ncclResult_t refuseCuda(CUresult result);

/// Of the process, as in the real library.
const char *lastError();

} // namespace mtc::standin::nccl
#endif // MTC_TEST_CUDA_NCCL_RESULTS_H
