//===- api_stream.cpp - streams and host functions ------------------------===//
#include "test/cuda/driver/api.h"
#include "test/cuda/driver/works.h"

#include <algorithm>

using namespace mtc::standin;

namespace {

CUresult create(CUstream *stream, unsigned flags, int priority) {
  return api(Need::context, [&](Driver &driver, Lock &) {
    if (!stream || flags & ~unsigned(CU_STREAM_NON_BLOCKING))
      return CUDA_ERROR_INVALID_VALUE;
    *stream = driver.makeStream(
        Driver::current, flags,
        std::clamp(priority, kGreatestPriority, kLeastPriority));
    return CUDA_SUCCESS;
  });
}

/// What a question about a stream, or a wait for it, meets in captures.
CUresult refuseWaiting(Driver &driver, CUstream stream) {
  if (stream->capture)
    return driver.captures.refuse(stream,
                                  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  if (CUresult wrong = driver.checkLegacy(stream))
    return wrong;
  return driver.captures.refuseUnsafe();
}

} // namespace

MTC_API cuStreamCreate(CUstream *stream, unsigned flags) {
  return create(stream, flags, 0);
}

MTC_API cuStreamCreateWithPriority(CUstream *stream, unsigned flags,
                                   int priority) {
  return create(stream, flags, priority);
}

MTC_API cuStreamDestroy(CUstream stream) {
  return api(Need::alive, [&](Driver &driver, Lock &) {
    if (!driver.streams.has(stream))
      return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult wrong = driver.checkCurrent(
            stream->context, "stream " + std::to_string(stream->number)))
      return wrong;
    // What is in it will run all the same.
    driver.captures.leave(driver, stream);
    driver.streams.remove(stream);
    return CUDA_SUCCESS;
  });
}

MTC_API cuStreamSynchronize(CUstream handle) {
  return apiOf(handle, [&](Driver &driver, CUstream stream, Lock &lock) {
    if (CUresult wrong = refuseWaiting(driver, stream))
      return wrong;
    for (const OperationPtr &each : driver.behind(stream))
      if (Driver::isLegacy(stream) || each == stream->last)
        if (CUresult wrong = driver.wait(each, lock))
          return wrong;
    return driver.sticky;
  });
}

MTC_API cuStreamQuery(CUstream handle) {
  return apiOf(handle, [&](Driver &driver, CUstream stream, Lock &lock) {
    if (CUresult wrong = refuseWaiting(driver, stream))
      return wrong;
    OperationPtr last = stream->last;
    if (!last)
      return CUDA_SUCCESS;
    driver.schedule.nudge(last, lock);
    if (driver.sticky)
      return driver.sticky;
    if (!last->done)
      return CUDA_ERROR_NOT_READY;
    driver.schedule.hostKnows(*last);
    return CUDA_SUCCESS;
  });
}

MTC_API cuStreamGetPriority(CUstream handle, int *priority) {
  return apiOf(handle, [&](Driver &, CUstream stream, Lock &) {
    if (!priority)
      return CUDA_ERROR_INVALID_VALUE;
    *priority = stream->priority;
    return CUDA_SUCCESS;
  });
}

MTC_API cuStreamGetFlags(CUstream handle, unsigned *flags) {
  return apiOf(handle, [&](Driver &driver, CUstream stream, Lock &) {
    // Odd, but so does the real driver.
    if (stream->capture)
      return driver.captures.refuse(stream,
                                    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (!flags)
      return CUDA_ERROR_INVALID_VALUE;
    bool special = Driver::isLegacy(stream);
    *flags = special || stream->blocking ? CU_STREAM_DEFAULT
                                         : CU_STREAM_NON_BLOCKING;
    return CUDA_SUCCESS;
  });
}

MTC_API cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data) {
  return apiOf(handle, [&](Driver &driver, CUstream stream, Lock &) {
    if (!function)
      return CUDA_ERROR_INVALID_VALUE;
    auto work = std::make_unique<HostWork>();
    work->function = function;
    work->data = data;
    return driver.submit(stream, std::move(work));
  });
}

MTC_API cuStreamAddCallback(CUstream handle, CUstreamCallback callback,
                            void *data, unsigned flags) {
  return apiOf(handle, [&](Driver &driver, CUstream stream, Lock &) {
    if (stream->capture)
      return driver.captures.refuse(stream,
                                    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (!callback || flags)
      return CUDA_ERROR_INVALID_VALUE;
    auto work = std::make_unique<HostWork>();
    work->callback = callback;
    work->data = data;
    work->stream = handle;
    return driver.submit(stream, std::move(work));
  });
}
