//===- cuda_device.h - a rank on an NVIDIA GPU ------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CUDA_CUDA_DEVICE_H
#define MTC_RUNTIME_DEVICE_CUDA_CUDA_DEVICE_H

#include "runtime/device/devices.h"

namespace mtc::cuda {

/// The GPU of number `rank` modulo those that the driver shows. Errors:
/// infeasible, without driver, GPU or memory.
runtime::Status makeCudaDevice(const runtime::DeviceRequest &request,
                               std::unique_ptr<runtime::Device> &out);

} // namespace mtc::cuda
#endif // MTC_RUNTIME_DEVICE_CUDA_CUDA_DEVICE_H
