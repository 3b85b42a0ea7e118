//===- api_graph_exec.cpp - instances of graphs ---------------------------===//
#include "test/cuda/driver/api.h"
#include "test/cuda/driver/graph.h"
#include "test/cuda/driver/node_parameters.h"

using namespace mtc::standin;

namespace {

constexpr cuuint64_t kAutoFree =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
constexpr cuuint64_t kUpload = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
constexpr cuuint64_t kOnDevice = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
constexpr cuuint64_t kPriority = CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

CUresult make(CUgraphExec *exec, CUgraph graph, cuuint64_t flags) {
  return api(Need::alive, [&](Driver &driver, Lock &) {
    if (CUresult wrong = driver.captures.refuseUnsafe())
      return wrong;
    if (!exec || !driver.graphs.has(graph) ||
        flags & ~(kAutoFree | kUpload | kOnDevice | kPriority) ||
        (flags & kOnDevice && flags & kAutoFree))
      return CUDA_ERROR_INVALID_VALUE;
    std::unique_ptr<CUgraphExec_st> made = instantiate(*graph);
    if (!made)
      return CUDA_ERROR_INVALID_VALUE;
    // As the real one: all streams have priorities, so the flag is dropped.
    made->flags = flags & ~kPriority;
    ++driver.instances;
    driver.instanceNodes += made->nodes.size();
    *exec = driver.execs.add(std::move(made));
    return CUDA_SUCCESS;
  });
}

template <class Body> CUresult ofExec(CUgraphExec exec, Need need, Body body) {
  return api(need, [&](Driver &driver, Lock &) -> CUresult {
    return driver.execs.has(exec) ? body(driver) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUgraphExec_st::Node *find(CUgraphExec exec, CUgraphNode node) {
  for (CUgraphExec_st::Node &each : exec->nodes)
    if (node && each.origin == node)
      return &each;
  return nullptr;
}

template <class Body>
CUresult ofExecIn(CUgraphExec exec, CUstream handle, Body body) {
  return apiOf(handle, [&](Driver &driver, CUstream stream, Lock &) {
    if (!driver.execs.has(exec))
      return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture)
      return driver.captures.refuse(stream,
                                    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    if (CUresult wrong = driver.checkLegacy(stream))
      return wrong;
    body(driver, stream);
    return CUDA_SUCCESS;
  });
}

} // namespace

MTC_API cuGraphInstantiate(CUgraphExec *exec, CUgraph graph,
                           unsigned long long flags) {
  // Uploading needs a stream, which only the form with parameters has.
  if (flags & kUpload)
    return api(Need::alive,
               [](Driver &, Lock &) { return CUDA_ERROR_INVALID_VALUE; });
  return make(exec, graph, flags);
}

MTC_API cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                     CUDA_GRAPH_INSTANTIATE_PARAMS *p) {
  if (!p)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult result = make(exec, graph, p->flags);
  p->hErrNode_out = nullptr;
  p->result_out =
      result ? CUDA_GRAPH_INSTANTIATE_ERROR : CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return result;
}

MTC_API cuGraphExecDestroy(CUgraphExec exec) {
  return ofExec(exec, Need::driver, [&](Driver &driver) {
    driver.execs.remove(exec); // what is in flight has works of its own
    return CUDA_SUCCESS;
  });
}

MTC_API cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags) {
  return ofExec(exec, Need::driver, [&](Driver &) {
    if (!flags)
      return CUDA_ERROR_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_SUCCESS;
  });
}

MTC_API cuGraphLaunch(CUgraphExec exec, CUstream handle) {
  return ofExecIn(exec, handle, [&](Driver &driver, CUstream stream) {
    launchGraph(driver, *exec, stream);
  });
}

MTC_API cuGraphUpload(CUgraphExec exec, CUstream handle) {
  return ofExecIn(exec, handle, [](Driver &driver, CUstream stream) {
    driver.enqueue(stream, nullptr);
  });
}

MTC_API cuGraphExecUpdate(CUgraphExec exec, CUgraph graph,
                          CUgraphExecUpdateResultInfo *info) {
  return ofExec(exec, Need::alive, [&](Driver &driver) {
    if (!info || !driver.graphs.has(graph))
      return CUDA_ERROR_INVALID_VALUE;
    *info = {};
    info->result = update(*exec, *graph);
    return info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS
               ? CUDA_SUCCESS
               : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  });
}

MTC_API
cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                               const CUDA_KERNEL_NODE_PARAMS *parameters) {
  return ofExec(exec, Need::alive, [&](Driver &driver) {
    CUgraphExec_st::Node *found = find(exec, node);
    if (!found || found->work->type() != CU_GRAPH_NODE_TYPE_KERNEL)
      return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_SUCCESS;
    std::unique_ptr<KernelWork> work = kernelOf(driver, parameters, result);
    if (work)
      found->work = std::move(work);
    return result;
  });
}

MTC_API cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node,
                              unsigned enabled) {
  return ofExec(exec, Need::alive, [&](Driver &) {
    CUgraphExec_st::Node *found = find(exec, node);
    if (!found)
      return CUDA_ERROR_INVALID_VALUE;
    found->enabled = enabled;
    return CUDA_SUCCESS;
  });
}

MTC_API cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node,
                              unsigned *enabled) {
  return ofExec(exec, Need::alive, [&](Driver &) {
    CUgraphExec_st::Node *found = find(exec, node);
    if (!found || !enabled)
      return CUDA_ERROR_INVALID_VALUE;
    *enabled = found->enabled;
    return CUDA_SUCCESS;
  });
}
