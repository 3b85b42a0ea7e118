//===- driver_calls.cpp - the driver under this library -------------------===//
#include "test/cuda/nccl/driver_calls.h"

#include "test/cuda/driver/report.h"

#include <dlfcn.h>
#include <map>
#include <mutex>

#define MTC_STRING2(x) #x
#define MTC_STRING(x) MTC_STRING2(x)

namespace mtc::standin::nccl {
namespace {

DriverCalls load() {
  DriverCalls calls;
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    report(std::string("NCCL finds no driver: ") + dlerror());
    return calls;
  }
  calls.complete = true;
#define X(f)                                                                   \
  calls.f##_ =                                                                 \
      reinterpret_cast<decltype(calls.f##_)>(dlsym(library, MTC_STRING(f)));   \
  if (!calls.f##_) {                                                           \
    report("the driver has no " MTC_STRING(f));                                \
    calls.complete = false;                                                    \
  }
  MTC_DRIVER_CALLS(X)
#undef X
  return calls;
}

/// Retained once and never given back, as by the real library's runtime.
CUcontext primary(int device, CUresult &result) {
  static std::mutex mutex;
  static std::map<int, CUcontext> contexts;
  std::lock_guard lock(mutex);
  if (auto known = contexts.find(device); known != contexts.end())
    return known->second;
  CUcontext found = nullptr;
  result = driver().cuInit_(0);
  if (!result)
    result = driver().cuDevicePrimaryCtxRetain_(&found, device);
  if (!result)
    contexts[device] = found;
  return found;
}

} // namespace

bool DriverCalls::isMemory(CUdeviceptr address) const {
  unsigned kind = 0;
  return complete && address &&
         cuPointerGetAttribute_(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                address) == CUDA_SUCCESS;
}

const DriverCalls &driver() {
  static const DriverCalls calls = load();
  return calls;
}

int currentDevice() {
  CUdevice device = 0;
  if (driver().complete && driver().cuCtxGetDevice_(&device))
    return 0;
  return device;
}

DeviceScope::DeviceScope(int device) {
  if (!driver().complete) {
    result = CUDA_ERROR_NOT_FOUND;
    return;
  }
  CUcontext context = primary(device, result);
  if (result)
    return;
  driver().cuCtxGetCurrent_(&before);
  if (before != context)
    result = driver().cuCtxSetCurrent_(context);
}

DeviceScope::~DeviceScope() {
  // A thread without a context keeps the one that it got here.
  CUcontext now = nullptr;
  if (before && !driver().cuCtxGetCurrent_(&now) && now != before)
    driver().cuCtxSetCurrent_(before);
}

} // namespace mtc::standin::nccl
