//===- driver.h - CUDA's driver, loaded at run time -------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_DRIVER_H
#define MTC_RUNTIME_DEVICE_CUDA_DRIVER_H

#include "runtime/base/status.h"
#include "runtime/device/cuda/driver_api.h"

#include <string>

namespace mtc::cuda {

/// The functions of driver_api.h. Programs are not linked with the driver: they
/// start where there is none, and say so.
class Driver {
public:
#define X(name, symbol, ...) Result (*name)(__VA_ARGS__) = nullptr;
  MTC_CUDA_DRIVER(X)
#undef X

  /// Loads libcuda.so.1 once for the process and begins it; every later call
  /// gives the same. Errors: infeasible, naming what is missing.
  static runtime::Status load(const Driver *&out);

  /// ok, or infeasible: "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (what)".
  runtime::Status check(Result result, const char *call,
                        const std::string &what = "") const;

private:
  runtime::Status open();
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_DRIVER_H
