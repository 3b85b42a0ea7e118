//===- api_copy.cpp - copies and memsets ----------------------------------===//
//
// Copies without Async are those of the legacy stream. They wait where the host
// is a side, and the host then knows their end, but where the documents promise
// less: a copy from pageable memory may return when its bytes are staged.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/driver/api.h"
#include "test/cuda/driver/transfers.h"

using namespace mtc::standin;

namespace {

CUresult copyAsync(Side toSide, uint64_t to, Side fromSide, uint64_t from,
                   size_t bytes, CUstream handle) {
  return apiOf(handle, [&](Driver &driver, CUstream stream, Lock &lock) {
    if (bytes == 0)
      return CUDA_SUCCESS;
    std::unique_ptr<CopyWork> copy =
        makeCopy(driver, toSide, to, fromSide, from, bytes);
    if (!copy)
      return CUDA_ERROR_INVALID_VALUE;
    bool waits = copy->toPageable && !stream->capture;
    if (CUresult wrong = driver.submit(stream, std::move(copy)))
      return wrong;
    return waits ? driver.wait(stream->last, lock) : CUDA_SUCCESS;
  });
}

CUresult copyNow(Side toSide, uint64_t to, Side fromSide, uint64_t from,
                 size_t bytes, bool betweenDevices = false) {
  return api(Need::context, [&](Driver &driver, Lock &lock) {
    CUstream stream = &Driver::current->legacy;
    if (bytes == 0)
      return CUDA_SUCCESS;
    std::unique_ptr<CopyWork> copy =
        makeCopy(driver, toSide, to, fromSide, from, bytes);
    if (!copy)
      return CUDA_ERROR_INVALID_VALUE;
    auto isHost = [&](uint64_t address) {
      const Range *range = driver.space.find(address);
      return !range || range->place != Place::device;
    };
    bool waits = isHost(to) || isHost(from);
    bool staged = copy->fromPageable && !isHost(to);
    copy->betweenDevices = betweenDevices;
    if (CUresult wrong = driver.submit(stream, std::move(copy)))
      return wrong;
    return waits ? driver.wait(stream->last, lock, /*known=*/!staged)
                 : CUDA_SUCCESS;
  });
}

uint64_t address(const void *host) { return reinterpret_cast<uint64_t>(host); }

CUresult fill(uint64_t to, unsigned value, unsigned elementBytes, size_t width,
              CUstream handle, bool async, size_t height = 1,
              size_t pitch = 0) {
  auto body = [&](Driver &driver, CUstream stream, Lock &lock) {
    if (width == 0 || height == 0)
      return CUDA_SUCCESS;
    std::unique_ptr<FillWork> work =
        makeFill(driver, to, value, elementBytes, width, height, pitch);
    if (!work)
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult wrong = driver.submit(stream, std::move(work)))
      return wrong;
    bool pinned = driver.space.find(to)->place != Place::device;
    return !async && pinned ? driver.wait(stream->last, lock) : CUDA_SUCCESS;
  };
  if (async)
    return apiOf(handle, body);
  return api(Need::context, [&](Driver &driver, Lock &lock) {
    return body(driver, &Driver::current->legacy, lock);
  });
}

} // namespace

MTC_API cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes) {
  return copyNow(Side::device, to, Side::host, address(from), bytes);
}
MTC_API cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes) {
  return copyNow(Side::host, address(to), Side::device, from, bytes);
}
MTC_API cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copyNow(Side::device, to, Side::device, from, bytes);
}
MTC_API cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copyNow(Side::any, to, Side::any, from, bytes);
}
MTC_API cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                          CUstream stream) {
  return copyAsync(Side::device, to, Side::host, address(from), bytes, stream);
}
MTC_API cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes,
                          CUstream stream) {
  return copyAsync(Side::host, address(to), Side::device, from, bytes, stream);
}
MTC_API cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                          CUstream stream) {
  return copyAsync(Side::device, to, Side::device, from, bytes, stream);
}
MTC_API cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                      CUstream stream) {
  return copyAsync(Side::any, to, Side::any, from, bytes, stream);
}
/// In the legacy stream of the current context.
MTC_API cuMemcpyPeer(CUdeviceptr to, CUcontext toContext, CUdeviceptr from,
                     CUcontext fromContext, size_t bytes) {
  auto check = [&](Driver &driver, Lock &) {
    auto isOf = [&](CUdeviceptr address, CUcontext context) {
      const Range *range = driver.space.find(address);
      return bytes == 0 || (range && range->context == context);
    };
    if (!driver.isContext(toContext) || !driver.isContext(fromContext))
      return CUDA_ERROR_INVALID_CONTEXT;
    return isOf(to, toContext) && isOf(from, fromContext)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  };
  if (CUresult wrong = api(Need::context, check))
    return wrong;
  return copyNow(Side::device, to, Side::device, from, bytes,
                 toContext != fromContext);
}

MTC_API cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  return fill(to, value, 1, count, nullptr, false);
}
MTC_API cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count) {
  return fill(to, value, 2, count, nullptr, false);
}
MTC_API cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
  return fill(to, value, 4, count, nullptr, false);
}
MTC_API cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned value,
                      size_t width, size_t height) {
  return fill(to, value, 4, width, nullptr, false, height, pitch);
}
MTC_API cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                        CUstream stream) {
  return fill(to, value, 1, count, stream, true);
}
MTC_API cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count,
                         CUstream stream) {
  return fill(to, value, 2, count, stream, true);
}
MTC_API cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                         CUstream stream) {
  return fill(to, value, 4, count, stream, true);
}
MTC_API cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value,
                           size_t width, size_t height, CUstream stream) {
  return fill(to, value, 4, width, stream, true, height, pitch);
}
