//===- adds.cpp - flattening and splitting of sums ------------------------===//
#include "passes/sharding/adds.h"

#include <algorithm>
#include <numeric>

namespace mtc::sharding {
namespace {

/// Rule of a sum of `n` operands: all may be partial together.
Rule sumRule(const Rule &like, size_t n) {
  Rule rule = like;
  rule.operands.assign(n, like.results[0]);
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  rule.linear = {all};
  return rule;
}

void setOperands(Op &op, std::vector<int> operands) {
  op.rule = sumRule(op.rule, operands.size());
  op.operands = std::move(operands);
}

bool mayMerge(const Graph &graph, const std::vector<std::vector<Use>> &uses,
              const Op &outer, int value) {
  int producer = graph.values[value].producer;
  if (producer < 0 || uses[value].size() != 1)
    return false;
  const Op &inner = graph.ops[producer];
  return inner.isAdd && inner.layer == outer.layer &&
         inner.backward == outer.backward;
}

/// How far a partial value is from where it became partial: sums are free.
std::vector<int64_t> distances(const Graph &graph, const Carriers &carriers) {
  std::vector<int64_t> dist(graph.values.size(), 0);
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const Op &op = graph.ops[i];
    if (carriers.group[i] < 0)
      continue;
    int64_t d = 0;
    for (int k : op.rule.linear[carriers.group[i]])
      d = std::max(d, dist[op.operands[k]]);
    for (int result : op.results)
      dist[result] = d + (op.isAdd ? 0 : 1);
  }
  return dist;
}

class Splitter {
public:
  Splitter(Graph &graph, const Axis &axis)
      : graph(graph), axis(axis), factors(assignFactors(graph, axis)),
        carriers(findCarriers(graph, axis, factors)), uses(usesOf(graph)),
        dist(distances(graph, carriers)) {}

  void run() {
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      Op op = graph.ops[i];
      if (op.isAdd && !factors.split[i])
        split(static_cast<int>(i), op);
      out.push_back(std::move(op));
    }
    graph.ops = std::move(out);
    renumber(graph);
  }

private:
  /// Partial, and no other user needs it full.
  bool staysPartial(int value, int add) const {
    if (!carriers.potential[value])
      return false;
    return std::all_of(uses[value].begin(), uses[value].end(), [&](Use u) {
      if (u.op == add)
        return true;
      return u.op < 0 ? mayStayPartial(axis, graph.outputs[u.index])
                      : carries(graph, carriers, u.op, u.index);
    });
  }

  void split(int i, Op &op) {
    std::vector<int> partial, full;
    for (int value : op.operands)
      (staysPartial(value, i) ? partial : full).push_back(value);
    if (partial.size() < 2)
      return;
    std::stable_sort(partial.begin(), partial.end(),
                     [&](int a, int b) { return dist[a] < dist[b]; });
    std::vector<int> pending;
    for (size_t k = 0; k < partial.size(); ++k) {
      pending.push_back(partial[k]);
      bool endsClass =
          k + 1 == partial.size() || dist[partial[k]] != dist[partial[k + 1]];
      bool isLast = k + 1 == partial.size() && full.empty();
      if (endsClass && !isLast && pending.size() > 1)
        pending = {emitSum(op, pending)};
    }
    pending.insert(pending.end(), full.begin(), full.end());
    setOperands(op, pending);
  }

  int emitSum(const Op &like, std::vector<int> operands) {
    Op sum = like;
    sum.tag = -1;
    graph.values.push_back(graph.values[like.results[0]]);
    int value = static_cast<int>(graph.values.size()) - 1;
    sum.results = {value};
    setOperands(sum, std::move(operands));
    out.push_back(std::move(sum));
    return value;
  }

  Graph &graph;
  const Axis &axis;
  Factors factors;
  Carriers carriers;
  std::vector<std::vector<Use>> uses;
  std::vector<int64_t> dist;
  std::vector<Op> out;
};

} // namespace

void flattenAdds(Graph &graph) {
  auto uses = usesOf(graph);
  std::vector<int> mergedInto(graph.values.size());
  std::iota(mergedInto.begin(), mergedInto.end(), 0);
  std::vector<bool> isMerged(graph.ops.size(), false);
  for (Op &op : graph.ops) {
    if (!op.isAdd)
      continue;
    std::vector<int> operands;
    for (int value : op.operands) {
      if (!mayMerge(graph, uses, op, value)) {
        operands.push_back(value);
        continue;
      }
      int producer = graph.values[value].producer;
      const Op &inner = graph.ops[producer];
      operands.insert(operands.end(), inner.operands.begin(),
                      inner.operands.end());
      isMerged[producer] = true;
      mergedInto[value] = op.results[0];
    }
    setOperands(op, operands);
  }
  for (Tensor &value : graph.values)
    while (value.primal >= 0 && mergedInto[value.primal] != value.primal)
      value.primal = mergedInto[value.primal];
  std::vector<Op> kept;
  for (size_t i = 0; i < graph.ops.size(); ++i)
    if (!isMerged[i])
      kept.push_back(std::move(graph.ops[i]));
  graph.ops = std::move(kept);
  renumber(graph);
}

void splitAdds(Graph &graph, const Axis &axis) { Splitter(graph, axis).run(); }

} // namespace mtc::sharding
