//===- cuda_context.h - a process's context of a GPU ------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_CUDA_CONTEXT_H
#define MTC_RUNTIME_DEVICE_CUDA_CUDA_CONTEXT_H

#include "mtc/runtime/gpu_chips.h"
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
  /// Chooses of `target`, "cuda:sm_80,sm_90a", the chip whose code the GPU is
  /// to run: the newest that it can. Errors: infeasible, where it runs none.
  runtime::Status chooseChip(const std::string &target,
                             const GpuChip *&chip) const;
  /// 90 of compute capability 9.0.
  int capability() const;

private:
  const Driver &driver_;
  DeviceNumber device_ = 0;
  Context context_ = nullptr;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_CUDA_CONTEXT_H
