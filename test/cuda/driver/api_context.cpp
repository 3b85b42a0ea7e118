//===- api_context.cpp - primary contexts ---------------------------------===//
#include "test/cuda/driver/api.h"
#include "test/cuda/driver/gpus.h"

using namespace mtc::standin;

namespace {

constexpr size_t kLimits[] = {1024, 8650752, 8388608, 8388608, 2048};

template <class Body> CUresult ofPrimary(CUdevice device, Body body) {
  return api(Need::driver, [&](Driver &driver, Lock &lock) -> CUresult {
    CUcontext context = driver.contextOf(device);
    return context ? body(driver, context, lock) : CUDA_ERROR_INVALID_DEVICE;
  });
}

} // namespace

MTC_API cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  return ofPrimary(device, [&](Driver &, CUcontext primary, Lock &) {
    if (!context)
      return CUDA_ERROR_INVALID_VALUE;
    ++primary->retained;
    *context = primary;
    return CUDA_SUCCESS;
  });
}

MTC_API cuDevicePrimaryCtxRelease(CUdevice device) {
  return ofPrimary(device, [&](Driver &driver, CUcontext primary, Lock &lock) {
    if (!primary->retained)
      return CUDA_ERROR_INVALID_CONTEXT;
    if (--primary->retained > 0)
      return CUDA_SUCCESS;
    driver.waitAll(primary, lock, true);
    driver.reset(primary);
    if (!driver.isAnyRetained())
      driver.sticky = CUDA_SUCCESS;
    return CUDA_SUCCESS;
  });
}

MTC_API cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags,
                                   int *active) {
  return ofPrimary(device, [&](Driver &, CUcontext primary, Lock &) {
    if (flags)
      *flags = primary->flags;
    if (active)
      *active = primary->retained > 0;
    return CUDA_SUCCESS;
  });
}

MTC_API cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return ofPrimary(device, [&](Driver &, CUcontext primary, Lock &) {
    if (flags & ~unsigned(CU_CTX_FLAGS_MASK))
      return CUDA_ERROR_INVALID_VALUE;
    primary->flags = flags;
    return CUDA_SUCCESS;
  });
}

MTC_API cuCtxSetCurrent(CUcontext context) {
  return api(Need::driver, [&](Driver &driver, Lock &) {
    // The real driver crashes on a handle that is none.
    if (context && !driver.isContext(context))
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
    *device = CUdevice(Driver::current->device);
    return CUDA_SUCCESS;
  });
}

MTC_API cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  return api(Need::context, [&](Driver &, Lock &) {
    if (least)
      *least = kLeastPriority;
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
    if (CUresult wrong = driver.captures.refuseAny(Driver::current))
      return wrong;
    return driver.waitAll(Driver::current, lock, true);
  });
}

MTC_API cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return api(Need::context, [&](Driver &driver, Lock &) {
    if (flags)
      return CUDA_ERROR_INVALID_VALUE;
    if (!driver.isContext(peer))
      return CUDA_ERROR_INVALID_CONTEXT;
    if (!canReach(*Driver::current, *peer))
      return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    return Driver::current->peers.insert(peer).second
               ? CUDA_SUCCESS
               : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  });
}

MTC_API cuCtxDisablePeerAccess(CUcontext peer) {
  return api(Need::context, [&](Driver &driver, Lock &) {
    if (!driver.isContext(peer))
      return CUDA_ERROR_INVALID_CONTEXT;
    return Driver::current->peers.erase(peer)
               ? CUDA_SUCCESS
               : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  });
}
