//===- max_flow.h - maximum flow by shortest augmenting paths ---*- C++ -*-===//
#ifndef MTC_PASSES_SHARDING_MAX_FLOW_H
#define MTC_PASSES_SHARDING_MAX_FLOW_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace mtc::sharding {

/// A flow network (Dinic's algorithm, O(V^2 E)). Deterministic.
class FlowNetwork {
public:
  static constexpr int64_t kInfinite = std::numeric_limits<int64_t>::max() / 4;

  /// A new node; the first is number 0.
  int addNode();
  void addEdge(int from, int to, int64_t capacity);
  /// Sends as much as possible; returns the amount. Call once.
  int64_t maximise(int source, int sink);
  /// After maximise: nodes that `source` still reaches. This is the smallest
  /// source side of all minimum cuts.
  std::vector<bool> sourceSide(int source) const;

private:
  struct Edge {
    int to;
    int64_t capacity; ///< what is left
  };
  bool findLevels(int source, int sink);
  int64_t push(int node, int sink, int64_t limit);

  std::vector<Edge> edges; ///< edge e and its reverse e ^ 1 are neighbours
  std::vector<std::vector<int>> edgesOf;
  std::vector<int> level;
  std::vector<std::size_t> nextEdge;
};

} // namespace mtc::sharding
#endif // MTC_PASSES_SHARDING_MAX_FLOW_H
