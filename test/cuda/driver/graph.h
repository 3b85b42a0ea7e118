//===- graph.h - graphs: nodes, instances, launches -------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_DRIVER_GRAPH_H
#define MTC_TEST_CUDA_DRIVER_GRAPH_H

#include "test/cuda/driver/cuda_api.h"
#include "test/cuda/driver/work.h"

#include <memory>
#include <vector>

namespace mtc::standin {

class Driver;

CUgraphNode addNode(Driver &driver, CUgraph graph,
                    const std::vector<CUgraphNode> &before,
                    std::unique_ptr<Work> work, int priority);
/// False: there is such an edge, or it is none of two nodes of one graph.
bool addEdge(CUgraphNode from, CUgraphNode to);
bool removeEdge(CUgraphNode from, CUgraphNode to);
void destroyNode(Driver &driver, CUgraphNode node);
void destroyGraph(Driver &driver, CUgraph graph);
CUgraph cloneGraph(Driver &driver, CUgraph graph);

/// Whether `heads` are behind all nodes that a graph was given from number
/// `first` on.
bool allReachable(const CUgraph_st &graph, size_t first,
                  const std::vector<CUgraphNode> &heads);

/// Null: the graph has a cycle.
std::unique_ptr<CUgraphExec_st> instantiate(const CUgraph_st &graph);
/// What cuGraphExecUpdate says; nodes are compared in their order.
CUgraphExecUpdateResult update(CUgraphExec_st &exec, const CUgraph_st &graph);
/// Puts an instance into a stream that does not capture.
void launchGraph(Driver &driver, CUgraphExec_st &exec, CUstream stream);

} // namespace mtc::standin
#endif // MTC_TEST_CUDA_DRIVER_GRAPH_H
