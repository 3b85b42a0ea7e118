//===- api_launch.cpp - launches of kernels -------------------------------===//
#include "test/cuda/driver/api.h"
#include "test/cuda/driver/kernel_launch.h"
#include "test/cuda/driver/report.h"

#include <algorithm>

using namespace mtc::standin;

namespace {

constexpr int kThreadsOfMultiprocessor = 2048, kBlocksOfMultiprocessor = 32;
constexpr size_t kSharedOfMultiprocessor = 233472, kSharedOfSystem = 1024;

CUresult launch(CUstream handle, const LaunchShape &shape) {
  return apiOf(handle, [&](Driver &driver, CUstream stream, Lock &) {
    if (!driver.functions.has(shape.function))
      return CUDA_ERROR_INVALID_HANDLE;
    if (shape.function->context != stream->context) {
      report("function " + shape.function->kernel->name + " of device " +
             std::to_string(shape.function->context->device) +
             " is launched in " + stream->name);
      return driver.captures.refuse(stream, CUDA_ERROR_INVALID_HANDLE);
    }
    if (stream->capture && stream->capture->invalidated)
      return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    CUresult result = CUDA_SUCCESS;
    std::unique_ptr<KernelWork> work = makeKernelWork(shape, &result);
    if (!work)
      return driver.captures.refuse(stream, result);
    return driver.submit(stream, std::move(work));
  });
}

} // namespace

MTC_API cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY,
                       unsigned gridZ, unsigned blockX, unsigned blockY,
                       unsigned blockZ, unsigned dynamicShared, CUstream stream,
                       void **parameters, void **extra) {
  return launch(stream, {function,
                         {gridX, gridY, gridZ},
                         {blockX, blockY, blockZ},
                         dynamicShared,
                         parameters,
                         extra});
}

MTC_API cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                         void **parameters, void **extra) {
  if (!config)
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned k = 0; k < config->numAttrs; ++k)
    if (config->attrs[k].id != CU_LAUNCH_ATTRIBUTE_PRIORITY &&
        config->attrs[k].id != CU_LAUNCH_ATTRIBUTE_IGNORE)
      return CUDA_ERROR_NOT_SUPPORTED; // clusters and others are not executed
  return launch(config->hStream,
                {function,
                 {config->gridDimX, config->gridDimY, config->gridDimZ},
                 {config->blockDimX, config->blockDimY, config->blockDimZ},
                 config->sharedMemBytes,
                 parameters,
                 extra});
}

MTC_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                    CUfunction function,
                                                    int threads,
                                                    size_t dynamicShared) {
  return api(Need::context, [&](Driver &driver, Lock &) {
    if (!driver.functions.has(function))
      return CUDA_ERROR_INVALID_HANDLE;
    if (!blocks || threads < 1)
      return CUDA_ERROR_INVALID_VALUE;
    // Without registers, which only ptxas knows.
    int warps = (threads + 31) / 32;
    size_t shared =
        function->kernel->sharedBytes + dynamicShared + kSharedOfSystem;
    *blocks = std::min({kBlocksOfMultiprocessor,
                        kThreadsOfMultiprocessor / (32 * warps),
                        int(kSharedOfMultiprocessor / shared)});
    return CUDA_SUCCESS;
  });
}
