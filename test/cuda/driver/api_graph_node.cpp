//===- api_graph_node.cpp - what nodes of graphs do -----------------------===//
#include "test/cuda/driver/api.h"
#include "test/cuda/driver/graph.h"
#include "test/cuda/driver/kernel_launch.h"
#include "test/cuda/driver/node_parameters.h"

using namespace mtc::standin;

namespace {

/// Adds a node that `make(driver, result)` makes.
template <class Make>
CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
             size_t count, Make make) {
  return api(Need::alive, [&](Driver &driver, Lock &) {
    if (!node || !driver.graphs.has(graph) || (count && !before))
      return CUDA_ERROR_INVALID_VALUE;
    std::vector<CUgraphNode> list(before, before + count);
    for (size_t k = 0; k < count; ++k) {
      if (!driver.nodes.has(list[k]) || list[k]->graph != graph)
        return CUDA_ERROR_INVALID_VALUE;
      for (size_t j = 0; j < k; ++j)
        if (list[j] == list[k])
          return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    std::unique_ptr<Work> work = make(driver, result);
    if (!work)
      return result;
    *node = addNode(driver, graph, list, std::move(work), 0);
    return CUDA_SUCCESS;
  });
}

/// The work, in a context that lives; null: in that of its stream.
template <class Made>
Made in(Driver &driver, CUcontext context, Made work, CUresult &result) {
  if (context && !driver.isContext(context)) {
    result = CUDA_ERROR_INVALID_CONTEXT;
    return nullptr;
  }
  if (work)
    work->context = context;
  return work;
}

/// The work of a node, if it is of that kind.
template <class Kind, class Body> CUresult of(CUgraphNode node, Body body) {
  return api(Need::driver, [&](Driver &driver, Lock &) -> CUresult {
    auto *work = driver.nodes.has(node) ? dynamic_cast<Kind *>(node->work.get())
                                        : nullptr;
    return work ? body(driver, *work) : CUDA_ERROR_INVALID_VALUE;
  });
}

} // namespace

MTC_API cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph,
                             const CUgraphNode *before, size_t count,
                             const CUDA_KERNEL_NODE_PARAMS *parameters) {
  return add(node, graph, before, count, [&](Driver &driver, CUresult &result) {
    return kernelOf(driver, parameters, result);
  });
}

MTC_API cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph,
                             const CUgraphNode *before, size_t count,
                             const CUDA_MEMSET_NODE_PARAMS *parameters,
                             CUcontext context) {
  return add(node, graph, before, count, [&](Driver &driver, CUresult &result) {
    return in(driver, context, fillOf(driver, parameters), result);
  });
}

MTC_API cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph,
                             const CUgraphNode *before, size_t count,
                             const CUDA_MEMCPY3D *parameters,
                             CUcontext context) {
  return add(node, graph, before, count, [&](Driver &driver, CUresult &result) {
    return in(driver, context, copyOf(driver, parameters), result);
  });
}

MTC_API cuGraphAddHostNode(CUgraphNode *node, CUgraph graph,
                           const CUgraphNode *before, size_t count,
                           const CUDA_HOST_NODE_PARAMS *parameters) {
  return add(node, graph, before, count,
             [&](Driver &, CUresult &) -> std::unique_ptr<Work> {
               if (!parameters || !parameters->fn)
                 return nullptr;
               auto work = std::make_unique<HostWork>();
               work->function = parameters->fn;
               work->data = parameters->userData;
               return work;
             });
}

MTC_API cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph,
                            const CUgraphNode *before, size_t count) {
  return add(node, graph, before, count, [](Driver &, CUresult &) {
    return std::make_unique<EmptyWork>();
  });
}

MTC_API cuGraphKernelNodeGetParams(CUgraphNode node,
                                   CUDA_KERNEL_NODE_PARAMS *parameters) {
  return of<KernelWork>(node, [&](Driver &, KernelWork &work) {
    if (!parameters)
      return CUDA_ERROR_INVALID_VALUE;
    *parameters = parametersOf(work);
    return CUDA_SUCCESS;
  });
}

MTC_API cuGraphKernelNodeSetParams(CUgraphNode node,
                                   const CUDA_KERNEL_NODE_PARAMS *parameters) {
  return of<KernelWork>(node, [&](Driver &driver, KernelWork &) {
    CUresult result = CUDA_SUCCESS;
    std::unique_ptr<KernelWork> work = kernelOf(driver, parameters, result);
    if (work)
      node->work = std::move(work);
    return result;
  });
}

MTC_API cuGraphKernelNodeGetAttribute(CUgraphNode node,
                                      CUkernelNodeAttrID attribute,
                                      CUkernelNodeAttrValue *value) {
  return of<KernelWork>(node, [&](Driver &, KernelWork &) {
    if (!value)
      return CUDA_ERROR_INVALID_VALUE;
    if (attribute != CU_LAUNCH_ATTRIBUTE_PRIORITY)
      return CUDA_ERROR_NOT_SUPPORTED;
    value->priority = node->priority;
    return CUDA_SUCCESS;
  });
}

MTC_API cuGraphMemsetNodeGetParams(CUgraphNode node,
                                   CUDA_MEMSET_NODE_PARAMS *parameters) {
  return of<FillWork>(node, [&](Driver &, FillWork &work) {
    if (!parameters)
      return CUDA_ERROR_INVALID_VALUE;
    *parameters = parametersOf(work);
    return CUDA_SUCCESS;
  });
}

MTC_API cuGraphMemcpyNodeGetParams(CUgraphNode node,
                                   CUDA_MEMCPY3D *parameters) {
  return of<CopyWork>(node, [&](Driver &, CopyWork &work) {
    if (!parameters)
      return CUDA_ERROR_INVALID_VALUE;
    *parameters = parametersOf(work);
    return CUDA_SUCCESS;
  });
}

MTC_API cuGraphHostNodeGetParams(CUgraphNode node,
                                 CUDA_HOST_NODE_PARAMS *parameters) {
  return of<HostWork>(node, [&](Driver &, HostWork &work) {
    if (!parameters)
      return CUDA_ERROR_INVALID_VALUE;
    *parameters = {work.function, work.data};
    return CUDA_SUCCESS;
  });
}
