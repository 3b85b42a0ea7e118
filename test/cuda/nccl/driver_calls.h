//===- driver_calls.h - the driver under this library -----------*- C++ -*-===//
//
// Loaded by name, as the real library does it: what is already loaded as
// libcuda.so.1, which has to be the stand-in of test/cuda/driver.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_NCCL_DRIVER_CALLS_H
#define MTC_TEST_CUDA_NCCL_DRIVER_CALLS_H

#include "test/cuda/driver/hooks.h"

#define MTC_DRIVER_CALLS(X)                                                    \
  X(cuInit)                                                                    \
  X(cuCtxGetCurrent)                                                           \
  X(cuCtxGetDevice)                                                            \
  X(cuCtxSetCurrent)                                                           \
  X(cuDeviceGetCount)                                                          \
  X(cuDeviceGetPCIBusId)                                                       \
  X(cuDevicePrimaryCtxRetain)                                                  \
  X(cuEventCreate)                                                             \
  X(cuEventDestroy)                                                            \
  X(cuEventRecord)                                                             \
  X(cuGetErrorString)                                                          \
  X(cuMemAlloc)                                                                \
  X(cuMemFree)                                                                 \
  X(cuMemcpyDtoDAsync)                                                         \
  X(cuPointerGetAttribute)                                                     \
  X(cuStreamQuery)                                                             \
  X(cuStreamWaitEvent)                                                         \
  X(mtcStandinBytes)                                                           \
  X(mtcStandinEnqueue)                                                         \
  X(mtcStandinFail)                                                            \
  X(mtcStandinIsCapturing)                                                     \
  X(mtcStandinIsIdle)                                                          \
  X(mtcStandinStreamName)

namespace mtc::standin::nccl {

/// Each function as `cuInit_` and so on; null where it is missing.
struct DriverCalls {
#define X(f) decltype(&::f) f##_ = nullptr;
  MTC_DRIVER_CALLS(X)
#undef X
  bool complete = false;

  /// Whether the device can reach an address.
  bool isMemory(CUdeviceptr address) const;
};

/// Loads the driver the first time.
const DriverCalls &driver();

/// The device of this thread's current context; 0 without one.
int currentDevice();

/// A device's context, made current in this thread as the real library makes
/// it, until the end of a call.
class DeviceScope {
public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;

  CUresult result = CUDA_SUCCESS; ///< why there is no context

private:
  CUcontext before = nullptr;
};

} // namespace mtc::standin::nccl
#endif // MTC_TEST_CUDA_NCCL_DRIVER_CALLS_H
