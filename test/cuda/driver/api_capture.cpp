//===- api_capture.cpp - stream capture -----------------------------------===//
#include "test/cuda/driver/api.h"
#include "test/cuda/driver/graph.h"

using namespace mtc::standin;

namespace {

CUresult begin(CUstream handle, CUgraph graph, const CUgraphNode *heads,
               size_t count, CUstreamCaptureMode mode) {
  return apiOf(handle, [&](Driver &driver, CUstream stream, Lock &) {
    if (Driver::isLegacy(stream))
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (graph && !driver.graphs.has(graph))
      return CUDA_ERROR_INVALID_VALUE;
    std::vector<CUgraphNode> list(heads, heads + count);
    for (CUgraphNode each : list)
      if (!driver.nodes.has(each) || each->graph != graph)
        return CUDA_ERROR_INVALID_VALUE;
    return driver.captures.begin(driver, stream, graph, std::move(list), mode);
  });
}

CUstreamCaptureStatus statusOf(CUstream stream) {
  if (!stream->capture)
    return CU_STREAM_CAPTURE_STATUS_NONE;
  return stream->capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                      : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

} // namespace

MTC_API cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return begin(stream, nullptr, nullptr, 0, mode);
}

MTC_API cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
                                    const CUgraphNode *heads,
                                    const CUgraphEdgeData *, size_t count,
                                    CUstreamCaptureMode mode) {
  if (!graph || (count && !heads))
    return CUDA_ERROR_INVALID_VALUE;
  return begin(stream, graph, heads, count, mode);
}

MTC_API cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  return apiOf(handle, [&](Driver &driver, CUstream stream, Lock &) {
    CUgraph made = nullptr;
    CUresult result = driver.captures.end(driver, stream, &made);
    if (graph)
      *graph = made;
    return result;
  });
}

MTC_API cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
  return apiOf(handle, [&](Driver &driver, CUstream stream, Lock &) {
    if (!status)
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult wrong = driver.checkLegacy(stream))
      return wrong;
    *status = statusOf(stream);
    return CUDA_SUCCESS;
  });
}

MTC_API cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *status,
                               cuuint64_t *id, CUgraph *graph,
                               const CUgraphNode **heads,
                               const CUgraphEdgeData **edges, size_t *count) {
  return apiOf(handle, [&](Driver &driver, CUstream stream, Lock &) {
    if (!status)
      return CUDA_ERROR_INVALID_VALUE;
    if (CUresult wrong = driver.checkLegacy(stream))
      return wrong;
    *status = statusOf(stream);
    // Nothing else is touched unless the capture goes on.
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
      return CUDA_SUCCESS;
    if (id)
      *id = stream->capture->id;
    if (graph)
      *graph = stream->capture->graph;
    if (heads)
      *heads = stream->heads.data();
    if (edges)
      *edges = nullptr;
    if (count)
      *count = stream->heads.size();
    return CUDA_SUCCESS;
  });
}

MTC_API cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  return api(Need::driver, [&](Driver &, Lock &) {
    if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
      return CUDA_ERROR_INVALID_VALUE;
    std::swap(*mode, Captures::threadMode);
    return CUDA_SUCCESS;
  });
}
