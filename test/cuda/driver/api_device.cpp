//===- api_device.cpp - the device, and results in words ------------------===//
#include "test/cuda/driver/api.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

using namespace mtc::standin;

namespace {

constexpr char kName[] = "NVIDIA H100 80GB HBM3";
constexpr size_t kTotalBytes = 85017493504;
/// What a context takes of it at once.
constexpr size_t kContextBytes = 548995072;
constexpr int kVersion = 13000;

struct Attribute {
  int id, value;
};
constexpr Attribute kAttributes[] = {
#define MTC_ATTRIBUTE(name, value) {CU_DEVICE_ATTRIBUTE_##name, value},
#include "test/cuda/driver/device_attributes.inc"
#undef MTC_ATTRIBUTE
};

struct Result {
  CUresult code;
  const char *name, *text;
};
constexpr Result kResults[] = {
#define MTC_RESULT(name, text) {name, #name, text},
#include "test/cuda/driver/error_names.inc"
#undef MTC_RESULT
};

const Result *find(CUresult code) {
  for (const Result &each : kResults)
    if (each.code == code)
      return &each;
  return nullptr;
}

/// What is not an H100's where MTC_STANDIN_CAPABILITY says so.
std::optional<int> ofCapability(const Driver &driver,
                                CUdevice_attribute attribute) {
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return driver.rules.target / 10;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return driver.rules.target % 10;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return driver.mostShared;
  default:
    return std::nullopt;
  }
}

template <class Body> CUresult ofDevice(CUdevice device, Body body) {
  return api(Need::driver, [&](Driver &driver, Lock &) -> CUresult {
    return device == 0 ? body(driver) : CUDA_ERROR_INVALID_DEVICE;
  });
}

} // namespace

MTC_API cuInit(unsigned flags) {
  return api(Need::nothing, [&](Driver &driver, Lock &) {
    if (flags)
      return CUDA_ERROR_INVALID_VALUE;
    if (driver.forked)
      return CUDA_ERROR_NOT_INITIALIZED;
    const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (visible && !*visible)
      return CUDA_ERROR_NO_DEVICE;
    if (!driver.initialised)
      driver.startIdleThread();
    driver.initialised = true;
    return CUDA_SUCCESS;
  });
}

MTC_API cuDriverGetVersion(int *version) {
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = kVersion;
  return CUDA_SUCCESS;
}

MTC_API cuDeviceGetCount(int *count) {
  return ofDevice(0, [&](Driver &) {
    if (!count)
      return CUDA_ERROR_INVALID_VALUE;
    *count = 1;
    return CUDA_SUCCESS;
  });
}

MTC_API cuDeviceGet(CUdevice *device, int ordinal) {
  return ofDevice(ordinal, [&](Driver &) {
    if (!device)
      return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}

MTC_API cuDeviceGetName(char *name, int bytes, CUdevice device) {
  return ofDevice(device, [&](Driver &) {
    if (!name || bytes < 1)
      return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(name, size_t(bytes), "%s", kName);
    return CUDA_SUCCESS;
  });
}

MTC_API cuDeviceTotalMem(size_t *bytes, CUdevice device) {
  return ofDevice(device, [&](Driver &) {
    if (!bytes)
      return CUDA_ERROR_INVALID_VALUE;
    *bytes = kTotalBytes;
    return CUDA_SUCCESS;
  });
}

MTC_API cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                             CUdevice device) {
  return ofDevice(device, [&](Driver &driver) {
    if (std::optional<int> of = ofCapability(driver, attribute); of && value) {
      *value = *of;
      return CUDA_SUCCESS;
    }
    for (const Attribute &each : kAttributes)
      if (each.id == int(attribute) && value) {
        *value = each.value;
        return CUDA_SUCCESS;
      }
    return CUDA_ERROR_INVALID_VALUE;
  });
}

MTC_API cuDeviceGetUuid(CUuuid *id, CUdevice device) {
  return ofDevice(device, [&](Driver &) {
    if (!id)
      return CUDA_ERROR_INVALID_VALUE;
    std::memset(id, 0x5a, sizeof *id);
    return CUDA_SUCCESS;
  });
}

MTC_API cuDeviceGetPCIBusId(char *id, int bytes, CUdevice device) {
  return ofDevice(device, [&](Driver &) {
    if (!id || bytes < 13)
      return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(id, size_t(bytes), "0000:00:06.0");
    return CUDA_SUCCESS;
  });
}

MTC_API cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  return ofDevice(device, [&](Driver &) {
    if (peer != 0)
      return CUDA_ERROR_INVALID_DEVICE;
    *can = 0;
    return CUDA_SUCCESS;
  });
}

MTC_API cuMemGetInfo(size_t *left, size_t *total) {
  return api(Need::context, [&](Driver &driver, Lock &) {
    if (left)
      *left = kTotalBytes - kContextBytes - driver.space.deviceBytes();
    if (total)
      *total = kTotalBytes;
    return CUDA_SUCCESS;
  });
}

MTC_API cuGetErrorName(CUresult code, const char **name) {
  const Result *found = find(code);
  if (name)
    *name = found ? found->name : nullptr;
  return found && name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

MTC_API cuGetErrorString(CUresult code, const char **text) {
  const Result *found = find(code);
  if (text)
    *text = found ? found->text : nullptr;
  return found && text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
