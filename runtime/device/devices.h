//===- devices.h - the devices there are ------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_DEVICES_H
#define MTC_RUNTIME_DEVICE_DEVICES_H

#include "runtime/device/device.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// The environment variable that names the device of all ranks, for
/// developers: programs are the same for every device of the host. Unset: the
/// one that the program is compiled for.
inline constexpr const char *kDeviceVariable = "MTC_DEVICE";

struct DeviceRequest;
using MakeDevice = Status (*)(const DeviceRequest &request,
                              std::unique_ptr<Device> &out);

/// Which of the GPUs of its host a rank takes: the one that somebody chose, or,
/// where `chosen` is -1, that of its number among the host's ranks, modulo
/// theirs.
struct GpuPlace {
  int local = 0, chosen = -1;
};

/// What a rank asks for.
struct DeviceRequest {
  int rank = 0;
  GpuPlace gpu;
  ArenaSizes sizes{};
  /// Memory that the communicator shares between ranks, as large as `sizes`
  /// says and alive as long as the device; empty: the device maps its own.
  ArenaViews shared{};
  /// Streams of the plan (MtcStream).
  int64_t streams = 1;
  /// Of a program for a GPU (mtc_device); null: for the host.
  const MtcDeviceFactory *factory = nullptr;
  /// Collectives go from GPU to GPU by NCCL, and not by the host's memory.
  bool nccl = false;
  /// Of GPUs: a file of `mtc tune`; empty: none.
  std::string gemmTable{};
};

struct DeviceInfo {
  std::string_view name;
  MakeDevice make;
};

/// The one list of devices of the host.
std::span<const DeviceInfo> devices();

/// Makes the device of the program's factory, else the one that kDeviceVariable
/// names. Errors: usage, if there is no such device, or a program for a GPU is
/// to run on one of the host; infeasible, without the device or memory for its
/// arenas.
Status makeDevice(const DeviceRequest &request, std::unique_ptr<Device> &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_DEVICES_H
