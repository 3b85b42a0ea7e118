//===- api_context.cpp - the primary context ------------------------------===//
#include "test/cuda/driver/api.h"

using namespace mtc::standin;

namespace {

constexpr int kGreatestPriority = -5;
constexpr size_t kLimits[] = {1024, 8650752, 8388608, 8388608, 2048};

} // namespace

MTC_API cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  return api(Need::driver, [&](Driver &driver, Lock &) {
    if (!context)
      return CUDA_ERROR_INVALID_VALUE;
    if (device)
      return CUDA_ERROR_INVALID_DEVICE;
    ++driver.retained;
    *context = &driver.primary;
    return CUDA_SUCCESS;
  });
}

MTC_API cuDevicePrimaryCtxRelease(CUdevice device) {
  return api(Need::driver, [&](Driver &driver, Lock &lock) {
    if (device)
      return CUDA_ERROR_INVALID_DEVICE;
    if (!driver.retained)
      return CUDA_ERROR_INVALID_CONTEXT;
    if (--driver.retained == 0) {
      driver.waitAll(lock, true);
      driver.reset();
      driver.sticky = CUDA_SUCCESS;
    }
    return CUDA_SUCCESS;
  });
}

MTC_API cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags,
                                   int *active) {
  return api(Need::driver, [&](Driver &driver, Lock &) {
    if (device)
      return CUDA_ERROR_INVALID_DEVICE;
    if (flags)
      *flags = driver.primary.flags;
    if (active)
      *active = driver.retained > 0;
    return CUDA_SUCCESS;
  });
}

MTC_API cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return api(Need::driver, [&](Driver &driver, Lock &) {
    if (device)
      return CUDA_ERROR_INVALID_DEVICE;
    if (flags & ~unsigned(CU_CTX_FLAGS_MASK))
      return CUDA_ERROR_INVALID_VALUE;
    driver.primary.flags = flags;
    return CUDA_SUCCESS;
  });
}

MTC_API cuCtxSetCurrent(CUcontext context) {
  return api(Need::driver, [&](Driver &driver, Lock &) {
    // The real driver crashes on a handle that is none.
    if (context && (context != &driver.primary || !driver.retained))
      return CUDA_ERROR_INVALID_CONTEXT;
    Driver::current = context;
    return CUDA_SUCCESS;
  });
}

MTC_API cuCtxGetCurrent(CUcontext *context) {
  return api(Need::driver, [&](Driver &, Lock &) {
    if (!context)
      return CUDA_ERROR_INVALID_VALUE;
    *context = Driver::current;
    return CUDA_SUCCESS;
  });
}

MTC_API cuCtxGetDevice(CUdevice *device) {
  return api(Need::context, [&](Driver &, Lock &) {
    if (!device)
      return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}

MTC_API cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  return api(Need::context, [&](Driver &, Lock &) {
    if (least)
      *least = 0;
    if (greatest)
      *greatest = kGreatestPriority;
    return CUDA_SUCCESS;
  });
}

MTC_API cuCtxGetLimit(size_t *value, CUlimit limit) {
  return api(Need::context, [&](Driver &, Lock &) {
    if (!value || size_t(limit) >= std::size(kLimits))
      return CUDA_ERROR_INVALID_VALUE;
    *value = kLimits[limit];
    return CUDA_SUCCESS;
  });
}

MTC_API cuCtxSetLimit(CUlimit limit, size_t) {
  return api(Need::context, [&](Driver &driver, Lock &) {
    if (CUresult wrong = driver.captures.refuseUnsafe())
      return wrong;
    return size_t(limit) < std::size(kLimits) ? CUDA_SUCCESS
                                              : CUDA_ERROR_INVALID_VALUE;
  });
}

MTC_API cuCtxSynchronize() {
  return api(Need::context, [&](Driver &driver, Lock &lock) {
    if (CUresult wrong = driver.captures.refuseAny())
      return wrong;
    return driver.waitAll(lock, true);
  });
}

MTC_API cuCtxEnablePeerAccess(CUcontext, unsigned) {
  return api(Need::context, [&](Driver &, Lock &) {
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  });
}
