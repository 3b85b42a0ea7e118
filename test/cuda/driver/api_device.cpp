//===- api_device.cpp - devices, and results in words ---------------------===//
#include "test/cuda/driver/api.h"
#include "test/cuda/driver/gpus.h"

#include <cstdio>
#include <cstring>
#include <optional>

using namespace mtc::standin;

namespace {

constexpr char kName[] = "NVIDIA H100 80GB HBM3";
constexpr size_t kTotalBytes = 85017493504;
/// What a context takes of it at once.
constexpr size_t kContextBytes = 548995072;
constexpr int kVersion = 13000;
/// Of the PCI bus, where the GPUs are one behind the other.
constexpr unsigned kFirstSlot = 6;

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
std::optional<int> ofCapability(const CUctx_st &gpu,
                                CUdevice_attribute attribute) {
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return gpu.capability / 10;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return gpu.capability % 10;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return gpu.mostShared;
  case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    return kFirstSlot + gpu.gpu;
  default:
    return std::nullopt;
  }
}

/// `body(gpu)` of a device.
template <class Body> CUresult ofDevice(CUdevice device, Body body) {
  return api(Need::driver, [&](Driver &driver, Lock &) -> CUresult {
    CUcontext gpu = driver.contextOf(device);
    return gpu ? body(*gpu) : CUDA_ERROR_INVALID_DEVICE;
  });
}

} // namespace

MTC_API cuInit(unsigned flags) {
  return api(Need::nothing, [&](Driver &driver, Lock &) {
    if (flags)
      return CUDA_ERROR_INVALID_VALUE;
    if (driver.forked)
      return CUDA_ERROR_NOT_INITIALIZED;
    if (driver.contexts.empty())
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
  return api(Need::driver, [&](Driver &driver, Lock &) {
    if (!count)
      return CUDA_ERROR_INVALID_VALUE;
    *count = int(driver.contexts.size());
    return CUDA_SUCCESS;
  });
}

MTC_API cuDeviceGet(CUdevice *device, int ordinal) {
  return ofDevice(ordinal, [&](CUctx_st &) {
    if (!device)
      return CUDA_ERROR_INVALID_VALUE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

MTC_API cuDeviceGetName(char *name, int bytes, CUdevice device) {
  return ofDevice(device, [&](CUctx_st &) {
    if (!name || bytes < 1)
      return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(name, size_t(bytes), "%s", kName);
    return CUDA_SUCCESS;
  });
}

MTC_API cuDeviceTotalMem(size_t *bytes, CUdevice device) {
  return ofDevice(device, [&](CUctx_st &) {
    if (!bytes)
      return CUDA_ERROR_INVALID_VALUE;
    *bytes = kTotalBytes;
    return CUDA_SUCCESS;
  });
}

MTC_API cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                             CUdevice device) {
  return ofDevice(device, [&](CUctx_st &gpu) {
    if (std::optional<int> of = ofCapability(gpu, attribute); of && value) {
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
  return ofDevice(device, [&](CUctx_st &gpu) {
    if (!id)
      return CUDA_ERROR_INVALID_VALUE;
    std::memset(id, 0x5a + int(gpu.gpu), sizeof *id);
    return CUDA_SUCCESS;
  });
}

MTC_API cuDeviceGetPCIBusId(char *id, int bytes, CUdevice device) {
  return ofDevice(device, [&](CUctx_st &gpu) {
    if (!id || bytes < 13)
      return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(id, size_t(bytes), "0000:00:%02x.0", kFirstSlot + gpu.gpu);
    return CUDA_SUCCESS;
  });
}

MTC_API cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  return api(Need::driver, [&](Driver &driver, Lock &) {
    CUcontext from = driver.contextOf(device), to = driver.contextOf(peer);
    if (!from || !to)
      return CUDA_ERROR_INVALID_DEVICE;
    *can = canReach(*from, *to);
    return CUDA_SUCCESS;
  });
}

MTC_API cuMemGetInfo(size_t *left, size_t *total) {
  return api(Need::context, [&](Driver &driver, Lock &) {
    if (left)
      *left = kTotalBytes - kContextBytes -
              driver.space.deviceBytes(Driver::current);
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
