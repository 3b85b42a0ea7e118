//===- kernel_launch.h - what a launch is checked for -----------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_DRIVER_KERNEL_LAUNCH_H
#define MTC_TEST_CUDA_DRIVER_KERNEL_LAUNCH_H

#include "test/cuda/driver/works.h"

#include <memory>

namespace mtc::standin {

struct LaunchShape {
  CUfunction function; ///< one that lives
  ptx::Extent grid, block;
  unsigned dynamicShared;
  void **parameters, **extra; ///< as cuLaunchKernel has them
};

/// Takes the arguments by value. Null, and *result says why, if the driver
/// would refuse the launch.
std::unique_ptr<KernelWork> makeKernelWork(const LaunchShape &shape,
                                           CUresult *result);

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_KERNEL_LAUNCH_H
