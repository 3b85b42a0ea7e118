//===- cut.cpp - minimum cut over potential carriers ----------------------===//
#include "passes/sharding/cut.h"

#include "passes/sharding/max_flow.h"

#include <algorithm>

namespace mtc::sharding {

int64_t reductionCost(const Graph &graph, const Factors &factors,
                      const std::vector<Use> &uses, int value) {
  int64_t bytes = bytesOf(graph.values[value]);
  State wish = kReplicated;
  for (size_t i = 0; i < uses.size(); ++i) {
    State own = uses[i].op < 0
                    ? kReplicated
                    : requiredInFull(graph, factors, uses[i].op, uses[i].index);
    if (own < 0 || (i > 0 && own != wish))
      return 2 * bytes;
    wish = own;
  }
  return uses.empty() ? 2 * bytes : bytes;
}

namespace {

/// Source side = stays partial. A node per carrier, and one per value that
/// stands for "all its users take it partial".
class Network {
public:
  Network(const Graph &graph, const Axis &axis, const Factors &factors,
          const Carriers &carriers)
      : graph(graph), axis(axis), factors(factors), carriers(carriers),
        uses(usesOf(graph)), source(flow.addNode()), sink(flow.addNode()),
        nodeOf(graph.ops.size(), -1) {
    for (size_t i = 0; i < graph.ops.size(); ++i)
      if (carriers.group[i] >= 0)
        nodeOf[i] = flow.addNode();
  }

  Cut solve() {
    for (size_t v = 0; v < graph.values.size(); ++v)
      if (carriers.potential[v])
        addValue(static_cast<int>(v));
    Cut cut;
    cut.cost = flow.maximise(source, sink);
    std::vector<bool> side = flow.sourceSide(source);
    cut.carried.assign(graph.ops.size(), false);
    for (size_t i = 0; i < graph.ops.size(); ++i)
      cut.carried[i] = nodeOf[i] >= 0 && side[nodeOf[i]];
    return cut;
  }

private:
  void addValue(int v) {
    int producer = graph.values[v].producer;
    bool isCarried = producer >= 0 && nodeOf[producer] >= 0;
    int from = isCarried ? nodeOf[producer] : source;
    if (uses[v].empty())
      return;
    int delayed = flow.addNode();
    flow.addEdge(from, delayed, reductionCost(graph, factors, uses[v], v));
    flow.addEdge(delayed, from, FlowNetwork::kInfinite);
    for (Use u : uses[v])
      addUse(delayed, u);
  }

  void addUse(int delayed, Use u) {
    bool takesPartial = u.op < 0 ? mayStayPartial(axis, graph.outputs[u.index])
                                 : carries(graph, carriers, u.op, u.index);
    if (!takesPartial)
      flow.addEdge(delayed, sink, FlowNetwork::kInfinite);
    if (!takesPartial || u.op < 0)
      return;
    // Together: the op carries exactly if the value stays partial for all its
    // users (single resolution).
    flow.addEdge(delayed, nodeOf[u.op], FlowNetwork::kInfinite);
    flow.addEdge(nodeOf[u.op], delayed, FlowNetwork::kInfinite);
  }

  const Graph &graph;
  const Axis &axis;
  const Factors &factors;
  const Carriers &carriers;
  std::vector<std::vector<Use>> uses;
  FlowNetwork flow;
  int source, sink;
  std::vector<int> nodeOf;
};

} // namespace

Cut minimumCut(const Graph &graph, const Axis &axis, const Factors &factors,
               const Carriers &carriers) {
  return Network(graph, axis, factors, carriers).solve();
}

} // namespace mtc::sharding
