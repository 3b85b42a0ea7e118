//===- api_graph.cpp - graphs, their nodes and edges ----------------------===//
#include "test/cuda/driver/api.h"
#include "test/cuda/driver/graph.h"
#include "test/cuda/driver/works.h"

#include <algorithm>
#include <cstdio>
#include <map>

using namespace mtc::standin;

namespace {

template <class Body> CUresult ofGraph(CUgraph graph, Body body) {
  return api(Need::driver, [&](Driver &driver, Lock &) -> CUresult {
    return driver.graphs.has(graph) ? body(driver) : CUDA_ERROR_INVALID_VALUE;
  });
}

template <class Body> CUresult ofNode(CUgraphNode node, Body body) {
  return api(Need::driver, [&](Driver &driver, Lock &) -> CUresult {
    return driver.nodes.has(node) ? body(driver) : CUDA_ERROR_INVALID_VALUE;
  });
}

/// The protocol of lists: without a place for it the count alone.
template <class T>
CUresult list(const std::vector<T> &from, T *to, size_t *count) {
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  if (!to) {
    *count = from.size();
    return CUDA_SUCCESS;
  }
  for (size_t k = 0; k < *count; ++k)
    to[k] = k < from.size() ? from[k] : T{};
  *count = std::min(*count, from.size());
  return CUDA_SUCCESS;
}

CUresult edges(const std::vector<CUgraphNode> &from,
               const std::vector<CUgraphNode> &to, CUgraphNode *fromOut,
               CUgraphNode *toOut, CUgraphEdgeData *data, size_t *count) {
  if (!count || bool(fromOut) != bool(toOut))
    return CUDA_ERROR_INVALID_VALUE;
  size_t room = fromOut ? *count : 0;
  for (size_t k = 0; k < room; ++k) {
    fromOut[k] = k < from.size() ? from[k] : nullptr;
    toOut[k] = k < to.size() ? to[k] : nullptr;
    if (data)
      data[k] = {};
  }
  *count = fromOut ? std::min(room, from.size()) : from.size();
  return CUDA_SUCCESS;
}

} // namespace

MTC_API cuGraphCreate(CUgraph *graph, unsigned flags) {
  return api(Need::driver, [&](Driver &driver, Lock &) {
    if (!graph || flags)
      return CUDA_ERROR_INVALID_VALUE;
    *graph = driver.graphs.add(std::make_unique<CUgraph_st>());
    return CUDA_SUCCESS;
  });
}

MTC_API cuGraphDestroy(CUgraph graph) {
  return ofGraph(graph, [&](Driver &driver) {
    destroyGraph(driver, graph);
    return CUDA_SUCCESS;
  });
}

MTC_API cuGraphClone(CUgraph *copy, CUgraph graph) {
  return ofGraph(graph, [&](Driver &driver) {
    if (!copy)
      return CUDA_ERROR_INVALID_VALUE;
    *copy = cloneGraph(driver, graph);
    return CUDA_SUCCESS;
  });
}

MTC_API cuGraphDestroyNode(CUgraphNode node) {
  return ofNode(node, [&](Driver &driver) {
    destroyNode(driver, node);
    return CUDA_SUCCESS;
  });
}

MTC_API cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
  return ofGraph(graph,
                 [&](Driver &) { return list(graph->nodes, nodes, count); });
}

MTC_API cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
  return ofGraph(graph, [&](Driver &) {
    std::vector<CUgraphNode> roots;
    for (CUgraphNode each : graph->nodes)
      if (each->before.empty())
        roots.push_back(each);
    return list(roots, nodes, count);
  });
}

MTC_API cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                        CUgraphEdgeData *data, size_t *count) {
  return ofGraph(graph, [&](Driver &) {
    std::vector<CUgraphNode> begins, ends;
    for (CUgraphNode each : graph->nodes)
      for (CUgraphNode next : each->after) {
        begins.push_back(each);
        ends.push_back(next);
      }
    return edges(begins, ends, from, to, data, count);
  });
}

MTC_API cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *before,
                                   CUgraphEdgeData *, size_t *count) {
  return ofNode(node,
                [&](Driver &) { return list(node->before, before, count); });
}

MTC_API cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *after,
                                     CUgraphEdgeData *, size_t *count) {
  return ofNode(node,
                [&](Driver &) { return list(node->after, after, count); });
}

MTC_API cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
  return ofNode(node, [&](Driver &) {
    if (!type)
      return CUDA_ERROR_INVALID_VALUE;
    *type = node->work->type();
    return CUDA_SUCCESS;
  });
}

MTC_API cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from,
                               const CUgraphNode *to, const CUgraphEdgeData *,
                               size_t count) {
  return ofGraph(graph, [&](Driver &driver) {
    for (size_t k = 0; k < count; ++k)
      if (!driver.nodes.has(from[k]) || !driver.nodes.has(to[k]) ||
          from[k]->graph != graph || !addEdge(from[k], to[k]))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
  });
}

MTC_API cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
                                  const CUgraphNode *to,
                                  const CUgraphEdgeData *, size_t count) {
  return ofGraph(graph, [&](Driver &driver) {
    for (size_t k = 0; k < count; ++k)
      if (!driver.nodes.has(from[k]) || !driver.nodes.has(to[k]) ||
          from[k]->graph != graph || !removeEdge(from[k], to[k]))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
  });
}

MTC_API cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned) {
  return ofGraph(graph, [&](Driver &) {
    FILE *file = path ? std::fopen(path, "w") : nullptr;
    if (!file)
      return CUDA_ERROR_OPERATING_SYSTEM;
    std::map<CUgraphNode, size_t> place;
    std::fprintf(file, "digraph dot {\n");
    for (CUgraphNode each : graph->nodes) {
      size_t number = place.size();
      place[each] = number;
      std::fprintf(file, "  n%zu [label=\"%zu\\n%s\"];\n", number, number,
                   each->work->name().c_str());
    }
    for (CUgraphNode each : graph->nodes)
      for (CUgraphNode next : each->after)
        std::fprintf(file, "  n%zu -> n%zu;\n", place[each], place[next]);
    std::fprintf(file, "}\n");
    std::fclose(file);
    return CUDA_SUCCESS;
  });
}
