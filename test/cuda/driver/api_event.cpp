//===- api_event.cpp - events ---------------------------------------------===//
#include "test/cuda/driver/api.h"
#include "test/cuda/driver/report.h"
#include "test/cuda/driver/works.h"

using namespace mtc::standin;

namespace {

constexpr unsigned kFlags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;

template <class Body> CUresult ofEvent(CUevent event, Body body) {
  return api(Need::alive, [&](Driver &driver, Lock &lock) -> CUresult {
    return driver.events.has(event) ? body(driver, lock)
                                    : CUDA_ERROR_INVALID_HANDLE;
  });
}

/// What a question about an event, or a wait of the host, meets in captures.
CUresult refuseAsking(Driver &driver, CUevent event) {
  if (event->capture) {
    if (event->capture->ended)
      return CUDA_ERROR_INVALID_VALUE;
    event->capture->invalidated = true;
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  return driver.captures.refuseUnsafe();
}

CUresult record(CUevent event, CUstream handle, bool external) {
  return apiOf(handle, [&](Driver &driver, CUstream stream, Lock &) {
    if (!driver.events.has(event))
      return CUDA_ERROR_INVALID_HANDLE;
    if (event->context != stream->context) {
      report("an event of device " + std::to_string(event->context->device) +
             " is recorded in " + stream->name);
      return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!stream->capture) {
      if (CUresult wrong = driver.checkLegacy(stream))
        return wrong;
      event->capture.reset();
      event->recorded = driver.enqueue(stream, nullptr);
      return CUDA_SUCCESS;
    }
    if (stream->capture->invalidated)
      return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (external) {
      auto work = std::make_unique<RecordWork>();
      work->event = event;
      return driver.submit(stream, std::move(work));
    }
    event->capture = stream->capture;
    event->heads = stream->heads;
    event->recorded.reset();
    return CUDA_SUCCESS;
  });
}

} // namespace

MTC_API cuEventCreate(CUevent *event, unsigned flags) {
  return api(Need::context, [&](Driver &driver, Lock &) {
    if (!event || flags & ~kFlags)
      return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_unique<CUevent_st>();
    made->context = Driver::current;
    made->flags = flags;
    *event = driver.events.add(std::move(made));
    return CUDA_SUCCESS;
  });
}

MTC_API cuEventDestroy(CUevent event) {
  return ofEvent(event, [&](Driver &driver, Lock &) {
    if (CUresult wrong = driver.checkCurrent(event->context, "an event"))
      return wrong;
    driver.events.remove(event);
    return CUDA_SUCCESS;
  });
}

MTC_API cuEventRecord(CUevent event, CUstream stream) {
  return record(event, stream, false);
}

MTC_API cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  if (flags & ~unsigned(CU_EVENT_RECORD_EXTERNAL))
    return CUDA_ERROR_INVALID_VALUE;
  return record(event, stream, flags & CU_EVENT_RECORD_EXTERNAL);
}

MTC_API cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
  return apiOf(handle, [&](Driver &driver, CUstream stream, Lock &) {
    if (!driver.events.has(event))
      return CUDA_ERROR_INVALID_HANDLE;
    if (flags & ~unsigned(CU_EVENT_WAIT_EXTERNAL))
      return CUDA_ERROR_INVALID_VALUE;
    if (event->capture)
      return driver.captures.join(driver, stream, event);
    if (stream->capture && stream->capture->invalidated)
      return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->capture && flags & CU_EVENT_WAIT_EXTERNAL) {
      auto work = std::make_unique<AwaitWork>();
      work->event = event;
      return driver.submit(stream, std::move(work));
    }
    if (!event->recorded)
      return CUDA_SUCCESS;
    if (stream->capture)
      return driver.captures.refuse(stream,
                                    CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    if (CUresult wrong = driver.checkLegacy(stream))
      return wrong;
    driver.enqueue(stream, nullptr, {event->recorded});
    return CUDA_SUCCESS;
  });
}

MTC_API cuEventQuery(CUevent event) {
  return ofEvent(event, [&](Driver &driver, Lock &lock) {
    if (CUresult wrong = refuseAsking(driver, event))
      return wrong;
    OperationPtr point = event->recorded;
    if (!point)
      return CUDA_SUCCESS;
    driver.schedule.nudge(point, lock);
    if (driver.sticky)
      return driver.sticky;
    if (!point->done)
      return CUDA_ERROR_NOT_READY;
    driver.schedule.hostKnows(*point);
    return CUDA_SUCCESS;
  });
}

MTC_API cuEventSynchronize(CUevent event) {
  return ofEvent(event, [&](Driver &driver, Lock &lock) {
    if (CUresult wrong = refuseAsking(driver, event))
      return wrong;
    return driver.wait(event->recorded, lock);
  });
}

MTC_API cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
  return ofEvent(begin, [&](Driver &driver, Lock &) {
    if (!driver.events.has(end) || begin->context != end->context)
      return CUDA_ERROR_INVALID_HANDLE;
    for (CUevent each : {begin, end})
      if (each->capture)
        return each->capture->ended ? CUDA_ERROR_INVALID_VALUE
                                    : CUDA_ERROR_CAPTURED_EVENT;
    for (CUevent each : {begin, end})
      if (!each->recorded || each->flags & CU_EVENT_DISABLE_TIMING)
        return CUDA_ERROR_INVALID_HANDLE;
    for (CUevent each : {begin, end})
      if (!each->recorded->done)
        return CUDA_ERROR_NOT_READY;
    if (!milliseconds)
      return CUDA_ERROR_INVALID_VALUE;
    *milliseconds =
        float(1000 * (end->recorded->endedAt - begin->recorded->endedAt));
    return CUDA_SUCCESS;
  });
}
