//===- driver_link.h - what this library asks of the driver -----*- C++ -*-===//
//
// As the real library does, this one loads libcuda.so.1 by name. It must be the
// stand-in: a real driver has no place to put work of the CPU into.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_BLAS_DRIVER_LINK_H
#define MTC_TEST_CUDA_BLAS_DRIVER_LINK_H

#include "test/cuda/driver/hooks.h"

#include <cuda.h>

namespace mtc::standin::blas {

struct DriverLink {
  decltype(&::cuCtxGetCurrent) getCurrent = nullptr;
  decltype(&::mtcStandinEnqueue) enqueue = nullptr;
  decltype(&::mtcStandinBytes) bytes = nullptr;
  decltype(&::mtcStandinFail) fail = nullptr;

  /// Null: there is none, or it lacks a function; told once.
  static const DriverLink *get();
  /// Of this thread; null: none, or there is no driver.
  static CUcontext context();
};

} // namespace mtc::standin::blas
#endif // MTC_TEST_CUDA_BLAS_DRIVER_LINK_H
