//===- device_factory.h - what programs name a device by --------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_DEVICE_FACTORY_H
#define MTC_RUNTIME_DEVICE_DEVICE_FACTORY_H

#include "mtc/runtime/abi.h"
#include "runtime/device/devices.h"

/// Of abi.h: constant, of static storage.
struct MtcDeviceFactory {
  mtc::runtime::MakeDevice make;
};

#endif // MTC_RUNTIME_DEVICE_DEVICE_FACTORY_H
