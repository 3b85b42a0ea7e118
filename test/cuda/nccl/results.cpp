//===- results.cpp - what calls return, and why ---------------------------===//
#include "test/cuda/nccl/results.h"

#include "test/cuda/driver/report.h"
#include "test/cuda/nccl/driver_calls.h"

#include <cstring>
#include <mutex>

namespace mtc::standin::nccl {
namespace {

/// As long as that of the real library.
char last[1024];
std::mutex lastMutex;

} // namespace

ncclResult_t refuse(ncclResult_t result, const std::string &sentence) {
  std::lock_guard lock(lastMutex);
  std::strncpy(last, sentence.c_str(), sizeof last - 1);
  return result;
}

ncclResult_t refuseStrictly(ncclResult_t result, const std::string &sentence) {
  report("NCCL: " + sentence);
  return refuse(result, sentence);
}

ncclResult_t refuseCuda(CUresult result) {
  if (result == CUDA_SUCCESS)
    return ncclSuccess;
  const char *text = nullptr;
  if (driver().cuGetErrorString_)
    driver().cuGetErrorString_(result, &text);
  return refuse(ncclUnhandledCudaError,
                "Cuda failure '" + std::string(text ? text : "?") + "'");
}

const char *lastError() { return last; }

} // namespace mtc::standin::nccl
