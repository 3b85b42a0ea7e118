//===- api_memory.cpp - allocations and what an address is ----------------===//
#include "test/cuda/driver/api.h"
#include "test/cuda/driver/report.h"

#include <fstream>
#include <sstream>

using namespace mtc::standin;

namespace {

constexpr size_t kDeviceBytes = 85017493504 - 548995072;

/// Frees after all that is pending in its context, as the real driver does. The
/// host does not know more by it: no document promises that.
CUresult release(Driver &driver, const Range &range, Lock &lock) {
  uint64_t base = range.base;
  if (CUresult wrong = driver.waitAll(range.context, lock, false))
    return wrong;
  driver.space.release(base);
  return CUDA_SUCCESS;
}

/// Whether the host may write (or, `readOnly`, read) all of these bytes.
bool isMapped(uint64_t begin, size_t bytes, bool readOnly) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  uint64_t reached = begin;
  while (reached < begin + bytes && std::getline(maps, line)) {
    uint64_t from = 0, to = 0;
    char dash = 0;
    std::string rights;
    std::istringstream fields(line);
    fields >> std::hex >> from >> dash >> to >> rights;
    if (to <= reached)
      continue;
    if (from > reached || rights[0] != 'r' || (!readOnly && rights[1] != 'w'))
      return false;
    reached = to;
  }
  return reached >= begin + bytes;
}

CUresult allocatePinned(void **host, size_t bytes, unsigned flags) {
  return api(Need::context, [&](Driver &driver, Lock &) {
    if (CUresult wrong = driver.captures.refuseUnsafe())
      return wrong;
    if (!host || flags & ~7u)
      return CUDA_ERROR_INVALID_VALUE;
    *host = nullptr;
    if (bytes == 0)
      return CUDA_SUCCESS;
    const Range *made = driver.space.allocatePinned(Driver::current, bytes);
    if (!made)
      return CUDA_ERROR_OUT_OF_MEMORY;
    *host = made->host;
    return CUDA_SUCCESS;
  });
}

template <class T> CUresult put(void *data, T value) {
  *static_cast<T *>(data) = value;
  return CUDA_SUCCESS;
}

} // namespace

MTC_API cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  return api(Need::context, [&](Driver &driver, Lock &) {
    if (CUresult wrong = driver.captures.refuseUnsafe())
      return wrong;
    if (!address)
      return CUDA_ERROR_INVALID_VALUE;
    *address = 0;
    if (bytes == 0)
      return CUDA_ERROR_INVALID_VALUE;
    if (bytes > kDeviceBytes - driver.space.deviceBytes(Driver::current))
      return CUDA_ERROR_OUT_OF_MEMORY;
    size_t used = driver.space.deviceBytes(nullptr);
    const Range *made = nullptr;
    if (bytes <= driver.mostDeviceBytes &&
        used + bytes <= driver.mostDeviceBytes)
      made = driver.space.allocate(Driver::current, bytes,
                                   driver.schedule.random() % 2);
    if (!made) {
      report(std::to_string(bytes) + " device bytes fit the device, but not "
                                     "what MTC_STANDIN_MEMORY lends to it");
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *address = made->base;
    return CUDA_SUCCESS;
  });
}

MTC_API cuMemFree(CUdeviceptr address) {
  return api(Need::alive, [&](Driver &driver, Lock &lock) {
    if (CUresult wrong = driver.captures.refuseUnsafe())
      return wrong;
    if (address == 0)
      return CUDA_SUCCESS;
    const Range *range = driver.space.find(address);
    if (!range || range->base != address || range->variable ||
        range->place != Place::device)
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult wrong = driver.checkCurrent(range->context, "an allocation"))
      return wrong;
    return release(driver, *range, lock);
  });
}

MTC_API cuMemAllocHost(void **host, size_t bytes) {
  return allocatePinned(host, bytes, 0);
}

MTC_API cuMemHostAlloc(void **host, size_t bytes, unsigned flags) {
  return allocatePinned(host, bytes, flags);
}

MTC_API cuMemFreeHost(void *host) {
  return api(Need::context, [&](Driver &driver, Lock &lock) {
    if (CUresult wrong = driver.captures.refuseUnsafe())
      return wrong;
    if (!host)
      return CUDA_SUCCESS;
    const Range *range = driver.space.find(reinterpret_cast<uint64_t>(host));
    if (!range || range->host != host || range->place != Place::pinned)
      return CUDA_ERROR_INVALID_VALUE;
    return release(driver, *range, lock);
  });
}

MTC_API cuMemHostRegister(void *host, size_t bytes, unsigned flags) {
  return api(Need::context, [&](Driver &driver, Lock &) {
    if (CUresult wrong = driver.captures.refuseUnsafe())
      return wrong;
    auto address = reinterpret_cast<uint64_t>(host);
    bool readOnly = flags & CU_MEMHOSTREGISTER_READ_ONLY;
    if (!host || bytes == 0 || flags & ~0xfu)
      return CUDA_ERROR_INVALID_VALUE;
    const Range *there = driver.space.find(address);
    if (there && there->place == Place::device)
      return CUDA_ERROR_INVALID_VALUE;
    if (driver.space.meets(address, bytes))
      return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    if (!isMapped(address, bytes, readOnly))
      return CUDA_ERROR_INVALID_VALUE;
    return driver.space.registerHost(Driver::current, host, bytes)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  });
}

MTC_API cuMemHostUnregister(void *host) {
  return api(Need::context, [&](Driver &driver, Lock &lock) {
    if (CUresult wrong = driver.captures.refuseUnsafe())
      return wrong;
    const Range *range = driver.space.find(reinterpret_cast<uint64_t>(host));
    if (!range || range->place != Place::registered)
      return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    if (range->host != host)
      return CUDA_ERROR_INVALID_VALUE;
    return release(driver, *range, lock);
  });
}

MTC_API cuMemHostGetDevicePointer(CUdeviceptr *address, void *host,
                                  unsigned flags) {
  return api(Need::context, [&](Driver &driver, Lock &) {
    const Range *range = driver.space.find(reinterpret_cast<uint64_t>(host));
    if (!address || flags || !range || range->place == Place::device)
      return CUDA_ERROR_INVALID_VALUE;
    *address = reinterpret_cast<uint64_t>(host);
    return CUDA_SUCCESS;
  });
}

MTC_API cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes,
                             CUdeviceptr address) {
  return api(Need::context, [&](Driver &driver, Lock &) {
    const Range *range = driver.space.find(address);
    if (!range)
      return CUDA_ERROR_NOT_FOUND;
    if (base)
      *base = range->base;
    if (bytes)
      *bytes = range->bytes;
    return CUDA_SUCCESS;
  });
}

MTC_API cuPointerGetAttribute(void *data, CUpointer_attribute attribute,
                              CUdeviceptr address) {
  return api(Need::context, [&](Driver &driver, Lock &) {
    const Range *range = driver.space.find(address);
    if (!data || !range)
      return CUDA_ERROR_INVALID_VALUE;
    bool onDevice = range->place == Place::device;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put<CUcontext>(data, range->context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put<unsigned>(data, onDevice ? CU_MEMORYTYPE_DEVICE
                                          : CU_MEMORYTYPE_HOST);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (onDevice)
        return CUDA_ERROR_INVALID_VALUE;
      return put<uint64_t>(data, address);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put<uint64_t>(data, address);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put<unsigned>(data, 0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put<int>(data, int(range->context->device));
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return put<uint64_t>(data, range->base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return put<size_t>(data, range->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put<unsigned>(data, 1);
    default:
      return CUDA_ERROR_INVALID_VALUE;
    }
  });
}
