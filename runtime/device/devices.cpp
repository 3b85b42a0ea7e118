//===- devices.cpp - the devices there are --------------------------------===//

#include "runtime/device/devices.h"

#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/device_factory.h"
#include "runtime/device/guarded/guarded_device.h"
#include "runtime/device/lagging/lagging_device.h"

#include <fmt/format.h>

#include <cstdlib>

namespace mtc::runtime {

/// The first is the one that nobody has to ask for.
static constexpr DeviceInfo kDevices[] = {
    {"cpu", makeCpuDevice},
    // For tests.
    {"guarded", makeGuardedDevice},
    {"lagging", makeLaggingDevice},
};

std::span<const DeviceInfo> devices() { return kDevices; }

Status makeDevice(const DeviceRequest &request, std::unique_ptr<Device> &out) {
  const char *asked = std::getenv(kDeviceVariable);
  if (request.factory && !asked)
    return request.factory->make(request, out);
  if (request.factory)
    return {StatusCode::usage,
            fmt::format("{}: expected none for a program of a GPU, found '{}'",
                        kDeviceVariable, asked)};
  for (const DeviceInfo &device : devices())
    if (!asked || device.name == asked)
      return device.make(request, out);
  return {StatusCode::usage,
          fmt::format("{}: expected {}, found '{}'", kDeviceVariable,
                      namesOf(kDevices), asked)};
}

} // namespace mtc::runtime
