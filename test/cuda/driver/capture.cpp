//===- capture.cpp - streams that capture ---------------------------------===//
#include "test/cuda/driver/capture.h"

#include "test/cuda/driver/driver.h"
#include "test/cuda/driver/graph.h"

#include <algorithm>

namespace mtc::standin {

thread_local CUstreamCaptureMode Captures::threadMode =
    CU_STREAM_CAPTURE_MODE_GLOBAL;

CUresult Captures::begin(Driver &driver, CUstream stream, CUgraph graph,
                         std::vector<CUgraphNode> heads,
                         CUstreamCaptureMode mode) {
  if (stream->capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_shared<Capture>();
  made->id = ++this->made;
  made->mode = mode;
  made->owner = std::this_thread::get_id();
  made->origin = stream;
  made->ownsGraph = !graph;
  made->graph =
      graph ? graph : driver.graphs.add(std::make_unique<CUgraph_st>());
  made->firstNode = made->graph->made;
  made->streams.insert(stream);
  stream->capture = made;
  stream->heads = std::move(heads);
  active.push_back(made);
  return CUDA_SUCCESS;
}

void Captures::close(Capture &capture) {
  capture.ended = true;
  for (CUstream each : capture.streams) {
    each->capture.reset();
    each->heads.clear();
  }
  capture.streams.clear();
  std::erase_if(active,
                [&](const CapturePtr &p) { return p.get() == &capture; });
}

void Captures::drop(Driver &driver, Capture &capture) {
  if (capture.ownsGraph)
    destroyGraph(driver, capture.graph);
  capture.graph = nullptr;
}

CUresult Captures::end(Driver &driver, CUstream stream, CUgraph *graph) {
  *graph = nullptr;
  CapturePtr capture = stream->capture;
  if (!capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  if (!capture->invalidated && capture->origin != stream) {
    capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  CUresult result = CUDA_SUCCESS;
  if (capture->owner != std::this_thread::get_id() &&
      capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED)
    result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  else if (capture->invalidated)
    result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  else if (!allReachable(*capture->graph, capture->firstNode, stream->heads))
    result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  close(*capture);
  if (result == CUDA_SUCCESS)
    *graph = capture->graph;
  else
    drop(driver, *capture);
  return result;
}

CUresult Captures::add(Driver &driver, CUstream stream,
                       std::unique_ptr<Work> work) {
  Capture &capture = *stream->capture;
  if (capture.invalidated)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  CUgraphNode node = addNode(driver, capture.graph, stream->heads,
                             std::move(work), stream->priority);
  stream->heads = {node};
  return CUDA_SUCCESS;
}

CUresult Captures::join(Driver &driver, CUstream stream, CUevent event) {
  if (CUresult wrong = driver.checkLegacy(stream))
    return wrong;
  if (event->capture->ended)
    return refuse(stream, CUDA_ERROR_INVALID_VALUE);
  if (driver.isLegacy(stream)) {
    event->capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  if (stream->capture && stream->capture != event->capture) {
    event->capture->invalidated = true;
    return refuse(stream, CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  if (event->capture->invalidated)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (!stream->capture) {
    stream->capture = event->capture;
    stream->heads.clear();
    stream->capture->streams.insert(stream);
  }
  for (CUgraphNode each : event->heads)
    if (std::ranges::find(stream->heads, each) == stream->heads.end())
      stream->heads.push_back(each);
  return CUDA_SUCCESS;
}

void Captures::leave(Driver &driver, CUstream stream) {
  CapturePtr capture = stream->capture;
  if (!capture)
    return;
  capture->streams.erase(stream);
  stream->capture.reset();
  if (capture->origin != stream)
    return;
  close(*capture);
  drop(driver, *capture);
}

CUresult Captures::refuse(CUstream stream, CUresult result) {
  if (stream->capture)
    stream->capture->invalidated = true;
  return result;
}

CUresult Captures::refuseUnsafe() {
  bool refused = false;
  if (threadMode == CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_SUCCESS;
  for (const CapturePtr &each : active) {
    bool own = each->owner == std::this_thread::get_id();
    bool forbids = own ? each->mode != CU_STREAM_CAPTURE_MODE_RELAXED
                       : each->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                             threadMode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (forbids)
      refused = each->invalidated = true;
  }
  return refused ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult Captures::refuseAny(CUcontext context) {
  bool refused = false;
  for (const CapturePtr &each : active)
    for (CUstream stream : each->streams)
      if (stream->context == context)
        refused = each->invalidated = true;
  return refused ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult Captures::refuseImplicit(CUcontext context) {
  bool refused = false;
  for (const CapturePtr &each : active)
    for (CUstream stream : each->streams)
      if (stream->blocking && stream->context == context && !each->invalidated)
        refused = each->invalidated = true;
  return refused ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

} // namespace mtc::standin
