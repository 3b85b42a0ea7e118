//===- devices.cpp - the devices there are --------------------------------===//

#include "runtime/device/devices.h"

#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/guarded/guarded_device.h"
#include "runtime/device/lagging/lagging_device.h"

#include <fmt/format.h>

#include <cstdlib>

namespace mtc::runtime {

/// The first of each kind is the one that nobody has to ask for.
static constexpr DeviceInfo kDevices[] = {
    {"cpu", makeCpuDevice},
    // For tests.
    {"guarded", makeGuardedDevice},
    {"lagging", makeLaggingDevice},
    {"cuda", cuda::makeCudaDevice, /*isGpu=*/true},
};

std::span<const DeviceInfo> devices() { return kDevices; }

Status makeDevice(const DeviceRequest &request, std::unique_ptr<Device> &out) {
  const char *asked = std::getenv(kDeviceVariable);
  for (const DeviceInfo &device : devices())
    if (device.isGpu == request.isGpu && (!asked || device.name == asked))
      return device.make(request, out);
  return {StatusCode::usage,
          fmt::format("{}: expected {} ('cuda' for programs of GPUs alone), "
                      "found '{}'",
                      kDeviceVariable, namesOf(kDevices), asked)};
}

} // namespace mtc::runtime
