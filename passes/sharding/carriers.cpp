//===- carriers.cpp - who could pass partial sums on ----------------------===//
#include "passes/sharding/axis.h"

#include <algorithm>
#include <set>

namespace mtc::sharding {
namespace {

/// (op, operand) pairs through which nothing partial may pass.
using Banned = std::set<std::pair<int, int>>;

int firstGroup(const Graph &graph, int i, const std::vector<bool> &potential,
               const Banned &banned) {
  const Op &op = graph.ops[i];
  for (size_t g = 0; g < op.rule.linear.size(); ++g) {
    const std::vector<int> &group = op.rule.linear[g];
    bool fits =
        !group.empty() && std::all_of(group.begin(), group.end(), [&](int k) {
          return potential[op.operands[k]] && !banned.count({i, k});
        });
    if (fits)
      return static_cast<int>(g);
  }
  return -1;
}

Carriers onePass(const Graph &graph, const Factors &factors,
                 const Banned &banned) {
  Carriers c;
  c.group.assign(graph.ops.size(), -1);
  c.potential.assign(graph.values.size(), false);
  for (size_t v = 0; v < graph.values.size(); ++v)
    c.potential[v] = factors.source[v] == kPartial;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    // An op that uses the axis itself adds local terms only; norm
    // backward would make its parameters' gradients partial too.
    if (factors.split[i] || graph.ops[i].rule.normBackward)
      continue;
    c.group[i] = firstGroup(graph, static_cast<int>(i), c.potential, banned);
    if (c.group[i] >= 0)
      for (int result : graph.ops[i].results)
        c.potential[result] = true;
  }
  return c;
}

} // namespace

bool carries(const Graph &graph, const Carriers &carriers, int i, int k) {
  if (carriers.group[i] < 0)
    return false;
  const std::vector<int> &group = graph.ops[i].rule.linear[carriers.group[i]];
  return std::find(group.begin(), group.end(), k) != group.end();
}

bool mayStayPartial(const Axis &axis, const Output &output) {
  switch (output.kind) {
  case OutputKind::Plain:
    return false;
  case OutputKind::Loss:
    return axis.data;
  case OutputKind::Gradient:
    return !axis.seeds.count(output.parameter);
  }
  return false;
}

Carriers findCarriers(const Graph &graph, const Axis &axis,
                      const Factors &factors) {
  auto uses = usesOf(graph);
  Banned banned;
  while (true) {
    Carriers c = onePass(graph, factors, banned);
    size_t before = banned.size();
    for (size_t v = 0; v < graph.values.size(); ++v) {
      if (!c.potential[v])
        continue;
      // A value that one user needs full is full for all.
      bool neededFull = std::any_of(uses[v].begin(), uses[v].end(), [&](Use u) {
        return u.op < 0 ? !mayStayPartial(axis, graph.outputs[u.index])
                        : !carries(graph, c, u.op, u.index);
      });
      if (!neededFull)
        continue;
      for (Use u : uses[v])
        if (u.op >= 0 && carries(graph, c, u.op, u.index))
          banned.insert({u.op, u.index});
    }
    if (banned.size() == before)
      return c;
  }
}

} // namespace mtc::sharding
