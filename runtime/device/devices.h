//===- devices.h - the devices there are ------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_DEVICES_H
#define MTC_RUNTIME_DEVICE_DEVICES_H

#include "runtime/device/device.h"

#include <memory>
#include <span>
#include <string_view>

namespace mtc::runtime {

/// The environment variable that names the device of all ranks, for
/// developers: programs are the same for every device of the host. Unset: the
/// one that the program is compiled for.
inline constexpr const char *kDeviceVariable = "MTC_DEVICE";

/// What a rank asks for.
struct DeviceRequest {
  int rank = 0;
  ArenaSizes sizes{};
  /// Memory that the communicator shares between ranks, as large as `sizes`
  /// says and alive as long as the device; empty: the device maps its own.
  ArenaViews shared{};
  /// Streams of the plan (MtcStream).
  int64_t streams = 1;
  bool isGpu = false; ///< what the program is compiled for
};

using MakeDevice = Status (*)(const DeviceRequest &request,
                              std::unique_ptr<Device> &out);

struct DeviceInfo {
  std::string_view name;
  MakeDevice make;
  bool isGpu = false;
};

/// The one list of devices.
std::span<const DeviceInfo> devices();

/// Makes the device that kDeviceVariable names, or of the request. Errors:
/// usage, if there is no such device or it is not of the kind that the program
/// is compiled for; infeasible, without the device or memory for its arenas.
Status makeDevice(const DeviceRequest &request, std::unique_ptr<Device> &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_DEVICES_H
