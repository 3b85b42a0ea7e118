//===- graph.cpp - graphs: nodes, instances, launches ---------------------===//
#include "test/cuda/driver/graph.h"

#include "test/cuda/driver/calls.h"
#include "test/cuda/driver/driver.h"
#include "test/cuda/driver/report.h"
#include "test/cuda/driver/works.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace mtc::standin {

CUgraphNode addNode(Driver &driver, CUgraph graph,
                    const std::vector<CUgraphNode> &before,
                    std::unique_ptr<Work> work, int priority) {
  auto made = std::make_unique<CUgraphNode_st>();
  made->graph = graph;
  made->work = std::move(work);
  made->priority = priority;
  made->number = graph->made++;
  CUgraphNode node = driver.nodes.add(std::move(made));
  graph->nodes.push_back(node);
  for (CUgraphNode each : before)
    addEdge(each, node);
  return node;
}

bool addEdge(CUgraphNode from, CUgraphNode to) {
  if (from->graph != to->graph || from == to ||
      std::ranges::find(from->after, to) != from->after.end())
    return false;
  from->after.push_back(to);
  to->before.push_back(from);
  return true;
}

bool removeEdge(CUgraphNode from, CUgraphNode to) {
  return std::erase(from->after, to) && std::erase(to->before, from);
}

void destroyNode(Driver &driver, CUgraphNode node) {
  for (CUgraphNode each : node->before)
    std::erase(each->after, node);
  for (CUgraphNode each : node->after)
    std::erase(each->before, node);
  std::erase(node->graph->nodes, node);
  driver.nodes.remove(node);
}

void destroyGraph(Driver &driver, CUgraph graph) {
  for (CUgraphNode each : graph->nodes)
    driver.nodes.remove(each);
  driver.graphs.remove(graph);
}

CUgraph cloneGraph(Driver &driver, CUgraph graph) {
  CUgraph copy = driver.graphs.add(std::make_unique<CUgraph_st>());
  std::map<CUgraphNode, CUgraphNode> image;
  for (CUgraphNode each : graph->nodes)
    image[each] =
        addNode(driver, copy, {}, each->work->clone(), each->priority);
  for (CUgraphNode each : graph->nodes)
    for (CUgraphNode next : each->after)
      addEdge(image[each], image[next]);
  return copy;
}

bool allReachable(const CUgraph_st &graph, size_t first,
                  const std::vector<CUgraphNode> &heads) {
  std::set<CUgraphNode> seen;
  std::vector<CUgraphNode> open = heads;
  while (!open.empty()) {
    CUgraphNode each = open.back();
    open.pop_back();
    if (seen.insert(each).second)
      open.insert(open.end(), each->before.begin(), each->before.end());
  }
  return std::ranges::all_of(graph.nodes, [&](CUgraphNode each) {
    return each->number < first || seen.count(each);
  });
}

std::unique_ptr<CUgraphExec_st> instantiate(const CUgraph_st &graph) {
  auto made = std::make_unique<CUgraphExec_st>();
  std::map<CUgraphNode, size_t> missing, placeOf;
  std::vector<CUgraphNode> open;
  for (CUgraphNode each : graph.nodes)
    if ((missing[each] = each->before.size()) == 0)
      open.push_back(each);
  // As they were made, where edges leave a choice.
  for (size_t k = 0; k < open.size(); ++k) {
    CUgraphNode node = open[k];
    placeOf[node] = k;
    CUgraphExec_st::Node copy{node->work->clone(), {}, node};
    for (CUgraphNode before : node->before)
      copy.before.push_back(placeOf[before]);
    made->nodes.push_back(std::move(copy));
    for (CUgraphNode next : node->after)
      if (--missing[next] == 0)
        open.push_back(next);
  }
  return open.size() == graph.nodes.size() ? std::move(made) : nullptr;
}

CUgraphExecUpdateResult update(CUgraphExec_st &exec, const CUgraph_st &graph) {
  std::unique_ptr<CUgraphExec_st> fresh = instantiate(graph);
  if (!fresh)
    return CU_GRAPH_EXEC_UPDATE_ERROR;
  if (fresh->nodes.size() != exec.nodes.size())
    return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  for (size_t k = 0; k < exec.nodes.size(); ++k) {
    const auto &old = exec.nodes[k], &now = fresh->nodes[k];
    if (old.before != now.before)
      return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (old.work->type() != now.work->type())
      return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  }
  for (size_t k = 0; k < exec.nodes.size(); ++k)
    exec.nodes[k].work = std::move(fresh->nodes[k].work);
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/// MTC_STANDIN_FAULT=RANK:NUMBER, of this rank; 0: none.
static uint64_t graphThatFails() {
  static const uint64_t number = [] {
    std::string asked = environmentText("MTC_STANDIN_FAULT"),
                rank = environmentText("MTC_RANK") + ":";
    return asked.starts_with(rank)
               ? std::strtoull(asked.c_str() + rank.size(), nullptr, 10)
               : 0;
  }();
  return number;
}

void launchGraph(Driver &driver, CUgraphExec_st &exec, CUstream stream) {
  if (notesCalls())
    noteCall(stream->name,
             "graph of " + std::to_string(exec.nodes.size()) + " nodes");
  if (++driver.graphLaunches == graphThatFails())
    return driver.fail(CUDA_ERROR_ECC_UNCORRECTABLE,
                       "the GPU fails, as MTC_STANDIN_FAULT asks");
  driver.graphNodes += exec.nodes.size();
  CUcontext context = stream->context;
  if (context->lastGraph && !driver.schedule.isKnown(*context->lastGraph))
    ++driver.graphsAhead;
  // One instance runs once at a time.
  std::vector<OperationPtr> first;
  if (exec.last)
    first.push_back(exec.last);
  OperationPtr begin = driver.enqueue(stream, nullptr, first);
  std::vector<OperationPtr> made;
  std::vector<bool> inner(exec.nodes.size());
  for (size_t k = 0; k < exec.nodes.size(); ++k) {
    const CUgraphExec_st::Node &node = exec.nodes[k];
    std::vector<OperationPtr> before;
    for (size_t each : node.before) {
      before.push_back(made[each]);
      inner[each] = true;
    }
    if (before.empty())
      before.push_back(begin);
    auto *record = dynamic_cast<RecordWork *>(node.work.get());
    auto *wait = dynamic_cast<AwaitWork *>(node.work.get());
    if (wait && driver.events.has(wait->event) && wait->event->recorded)
      before.push_back(wait->event->recorded);
    std::unique_ptr<Work> work;
    if (node.enabled && !record && !wait)
      work = node.work->clone();
    if (work && !work->context)
      work->context = context;
    unsigned device = (work ? work->context : context)->device;
    made.push_back(driver.schedule.add("node " + std::to_string(k) +
                                           " of a graph in " + stream->name,
                                       device, std::move(work), before));
    if (record && driver.events.has(record->event))
      record->event->recorded = made.back();
  }
  std::vector<OperationPtr> last{begin};
  for (size_t k = 0; k < made.size(); ++k)
    if (!inner[k])
      last.push_back(made[k]);
  stream->last =
      driver.schedule.add(stream->name, context->device, nullptr, last);
  context->lastGraph = exec.last = stream->last;
}

} // namespace mtc::standin
