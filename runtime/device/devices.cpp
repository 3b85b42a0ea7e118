//===- devices.cpp - the devices there are --------------------------------===//

#include "runtime/device/devices.h"

#include "runtime/device/cpu/cpu_device.h"
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
  std::string_view name = asked ? asked : kDevices[0].name;
  for (const DeviceInfo &device : devices())
    if (device.name == name)
      return device.make(request, out);
  return {StatusCode::usage,
          fmt::format("{}: expected {}, found '{}'", kDeviceVariable,
                      namesOf(kDevices), name)};
}

} // namespace mtc::runtime
