//===- max_flow.cpp - Dinic's algorithm -----------------------------------===//
#include "passes/sharding/max_flow.h"

#include <algorithm>

namespace mtc::sharding {

int FlowNetwork::addNode() {
  edgesOf.emplace_back();
  return static_cast<int>(edgesOf.size()) - 1;
}

void FlowNetwork::addEdge(int from, int to, int64_t capacity) {
  edgesOf[from].push_back(static_cast<int>(edges.size()));
  edges.push_back({to, capacity});
  edgesOf[to].push_back(static_cast<int>(edges.size()));
  edges.push_back({from, 0});
}

bool FlowNetwork::findLevels(int source, int sink) {
  level.assign(edgesOf.size(), -1);
  level[source] = 0;
  std::vector<int> queue = {source};
  for (size_t i = 0; i < queue.size(); ++i)
    for (int e : edgesOf[queue[i]])
      if (edges[e].capacity > 0 && level[edges[e].to] < 0) {
        level[edges[e].to] = level[queue[i]] + 1;
        queue.push_back(edges[e].to);
      }
  return level[sink] >= 0;
}

int64_t FlowNetwork::push(int node, int sink, int64_t limit) {
  if (node == sink)
    return limit;
  for (size_t &i = nextEdge[node]; i < edgesOf[node].size(); ++i) {
    int e = edgesOf[node][i];
    if (edges[e].capacity <= 0 || level[edges[e].to] != level[node] + 1)
      continue;
    int64_t sent = push(edges[e].to, sink, std::min(limit, edges[e].capacity));
    if (sent > 0) {
      edges[e].capacity -= sent;
      edges[e ^ 1].capacity += sent;
      return sent;
    }
  }
  return 0;
}

int64_t FlowNetwork::maximise(int source, int sink) {
  int64_t total = 0;
  while (findLevels(source, sink)) {
    nextEdge.assign(edgesOf.size(), 0);
    while (int64_t sent = push(source, sink, kInfinite))
      total += sent;
  }
  return total;
}

std::vector<bool> FlowNetwork::sourceSide(int source) const {
  std::vector<bool> reached(edgesOf.size(), false);
  reached[source] = true;
  std::vector<int> queue = {source};
  for (size_t i = 0; i < queue.size(); ++i)
    for (int e : edgesOf[queue[i]])
      if (edges[e].capacity > 0 && !reached[edges[e].to]) {
        reached[edges[e].to] = true;
        queue.push_back(edges[e].to);
      }
  return reached;
}

} // namespace mtc::sharding
