//===- guarded_device.h - the cpu, late and locked --------------*- C++ -*-===//
//
// A device for tests. Nothing runs before somebody waits for it, and the arenas
// can be touched only while a fragment, a copy or a collective runs. So code
// that reads an arena, takes a result before it is there, or changes a buffer
// that is still to be copied, fails or computes other bits here, as it would on
// a device with memory and a clock of its own.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_DEVICE_GUARDED_GUARDED_DEVICE_H
#define MTC_RUNTIME_DEVICE_GUARDED_GUARDED_DEVICE_H

#include "runtime/device/devices.h"

namespace mtc::runtime {

Status makeGuardedDevice(const DeviceRequest &request,
                         std::unique_ptr<Device> &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_GUARDED_GUARDED_DEVICE_H
