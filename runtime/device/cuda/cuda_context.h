//===- cuda_context.h - a process's context of a GPU ------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_CUDA_CONTEXT_H
#define MTC_RUNTIME_DEVICE_CUDA_CUDA_CONTEXT_H

#include "runtime/device/cuda/driver.h"
#include "runtime/device/devices.h"

#include <string>

namespace mtc::cuda {

/// The primary context of one GPU, which the driver counts; released by the
/// destructor.
class CudaContext {
public:
  explicit CudaContext(const Driver &driver) : driver_(driver) {}
  CudaContext(const CudaContext &) = delete;
  CudaContext &operator=(const CudaContext &) = delete;
  ~CudaContext();

  /// Once. Errors: infeasible, where there is no such GPU.
  runtime::Status open(const runtime::GpuPlace &place);
  Context get() const { return context_; }
  /// As the driver names it.
  std::string gpuName() const;
  /// Whether the GPU runs code for `target`: as new as "cuda:sm_90", or the one
  /// kind of "cuda:sm_90a". Errors: infeasible.
  runtime::Status checkArchitecture(const std::string &target) const;

private:
  const Driver &driver_;
  DeviceNumber device_ = 0;
  Context context_ = nullptr;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_CUDA_CONTEXT_H
