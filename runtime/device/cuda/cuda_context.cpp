//===- cuda_context.cpp - a process's context of a GPU --------------------===//

#include "runtime/device/cuda/cuda_context.h"

#include <fmt/format.h>

using mtc::runtime::GpuPlace;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {

CudaContext::~CudaContext() {
  if (context_)
    (void)driver_.releaseContext(device_);
}

Status CudaContext::open(const GpuPlace &place) {
  int count = 0;
  MTC_RETURN_IF_ERROR(
      driver_.check(driver_.deviceCount(&count), "cuDeviceGetCount"));
  if (count == 0)
    return {StatusCode::infeasible,
            "expected an NVIDIA GPU, found a driver that shows none (is "
            "CUDA_VISIBLE_DEVICES empty?)"};
  if (place.chosen >= count)
    return {StatusCode::infeasible,
            fmt::format("--device {}: expected one of the {} that the driver "
                        "shows, 0 to {}; CUDA_VISIBLE_DEVICES hides others",
                        place.chosen, count, count - 1)};
  int number = place.chosen >= 0 ? place.chosen : place.local % count;
  MTC_RETURN_IF_ERROR(
      driver_.check(driver_.device(&device_, number), "cuDeviceGet"));
  return driver_.check(driver_.retainContext(&context_, device_),
                       "cuDevicePrimaryCtxRetain");
}

std::string CudaContext::gpuName() const {
  char name[128] = "";
  (void)driver_.deviceName(name, sizeof name, device_);
  return name;
}

int CudaContext::capability() const {
  int major = 0, minor = 0;
  (void)driver_.deviceAttribute(&major, kComputeMajor, device_);
  (void)driver_.deviceAttribute(&minor, kComputeMinor, device_);
  return 10 * major + minor;
}

Status CudaContext::chooseChip(const std::string &target,
                               const GpuChip *&chip) const {
  const std::vector<std::string> names = gpuChipsOf(target);
  chip = gpuChipFor(names, capability());
  if (chip)
    return Status::okay();
  return {StatusCode::infeasible,
          fmt::format("the program was compiled for {}: expected {}, found {} "
                      "(sm_{}); compile with a --target that has sm_{} or an "
                      "older one",
                      target, describeGpusOf(names), gpuName(), capability(),
                      capability())};
}

} // namespace mtc::cuda
