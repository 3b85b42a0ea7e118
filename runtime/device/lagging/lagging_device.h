//===- lagging_device.h - the cpu, with collectives that end late -*- C++ -*-=//
//
// A device for tests. A product waits until all collectives on the stream of
// collectives have begun, and such a collective ends only once the next product
// has begun, or the stream of fragments waits for others. So a trace of it
// shows by construction, and not by luck, what runs beside collectives; and a
// product that reads or writes what a collective still works on has time to go
// wrong.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_DEVICE_LAGGING_LAGGING_DEVICE_H
#define MTC_RUNTIME_DEVICE_LAGGING_LAGGING_DEVICE_H

#include "runtime/device/devices.h"

namespace mtc::runtime {

Status makeLaggingDevice(const DeviceRequest &request,
                         std::unique_ptr<Device> &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_LAGGING_LAGGING_DEVICE_H
