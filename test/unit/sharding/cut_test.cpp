//===- cut_test.cpp - the cut against all labellings ----------------------===//
#include "passes/sharding/cut.h"
#include "passes/sharding/max_flow.h"
#include "small_graph.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

using namespace mtc::sharding;
using namespace mtc::sharding::test;

namespace {

TEST(MaxFlow, FindsTheSmallestSourceSide) {
  FlowNetwork net;
  for (int i = 0; i < 4; ++i)
    net.addNode();
  net.addEdge(0, 1, 3);
  net.addEdge(1, 2, 3);
  net.addEdge(2, 3, 3);
  EXPECT_EQ(net.maximise(0, 3), 3);
  EXPECT_EQ(net.sourceSide(0), (std::vector<bool>{true, false, false, false}));
}

TEST(MaxFlow, UsesReverseEdges) {
  FlowNetwork net;
  for (int i = 0; i < 4; ++i)
    net.addNode();
  for (auto [a, b] : {std::pair{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}})
    net.addEdge(a, b, 1);
  EXPECT_EQ(net.maximise(0, 3), 2);
}

/// Enumerates labellings without the fixpoint that the library uses: an op may
/// carry iff its group is partial and all users of what it carries do too.
class Enumeration {
public:
  Enumeration(const Graph &graph, const Axis &axis)
      : g(graph), axis(axis), factors(assignFactors(graph, axis)),
        uses(usesOf(graph)) {
    for (size_t i = 0; i < g.ops.size(); ++i)
      if (!factors.split[i] && !g.ops[i].rule.linear.empty())
        candidates.push_back(static_cast<int>(i));
  }

  /// Cheapest cost; all cheapest labellings in `best`.
  int64_t run() {
    int64_t cheapest = -1;
    for (uint64_t bits = 0; bits < (1ull << candidates.size()); ++bits) {
      std::vector<bool> carried(g.ops.size(), false);
      for (size_t c = 0; c < candidates.size(); ++c)
        carried[candidates[c]] = bits >> c & 1;
      std::optional<int64_t> cost = costOf(carried);
      if (!cost)
        continue;
      if (cheapest < 0 || *cost < cheapest) {
        cheapest = *cost;
        best.clear();
      }
      if (*cost == cheapest)
        best.push_back(carried);
    }
    return cheapest;
  }
  std::vector<std::vector<bool>> best;

private:
  bool takesPartial(const std::vector<bool> &carried, Use u) const {
    if (u.op < 0)
      return mayStayPartial(axis, g.outputs[u.index]);
    const std::vector<int> &group =
        g.ops[u.op].rule.linear.empty() ? none : g.ops[u.op].rule.linear[0];
    return carried[u.op] && std::count(group.begin(), group.end(), u.index);
  }

  std::optional<int64_t> costOf(const std::vector<bool> &carried) const {
    int64_t cost = 0;
    for (size_t v = 0; v < g.values.size(); ++v) {
      int producer = g.values[v].producer;
      bool isPartial =
          factors.source[v] == kPartial || (producer >= 0 && carried[producer]);
      int64_t taking = 0;
      for (Use u : uses[v]) {
        bool isCarried = u.op >= 0 && takesPartial(carried, u);
        if (isCarried && !isPartial)
          return std::nullopt;
        taking += takesPartial(carried, u);
      }
      bool someCarries =
          std::any_of(uses[v].begin(), uses[v].end(), [&](Use u) {
            return u.op >= 0 && takesPartial(carried, u);
          });
      if (!isPartial || taking == static_cast<int64_t>(uses[v].size()))
        continue;
      if (someCarries)
        return std::nullopt; // partial for one user, full for another
      cost += 2 * bytesOf(g.values[v]);
    }
    return cost;
  }

  const Graph &g;
  const Axis &axis;
  Factors factors;
  std::vector<std::vector<Use>> uses;
  std::vector<int> candidates, none;
};

/// Sums, scalings, reductions and nonlinear ops on partial and full values.
Small randomGraph(std::mt19937 &random) {
  Small s;
  std::vector<int> wide, narrow; // [4, 4] and [4]
  for (int i = 0; i < 2; ++i)
    wide.push_back(s.partial());
  wide.push_back(s.full());
  auto any = [&](const std::vector<int> &from) {
    return from[random() % from.size()];
  };
  for (int i = 0; i < 8; ++i)
    switch (random() % 6) {
    case 0:
    case 1:
      wide.push_back(s.tape.add({any(wide), any(wide)}));
      break;
    case 2:
      wide.push_back(s.scale(any(wide)));
      break;
    case 3:
      narrow.push_back(s.tape.reduceSum("ab", "a", any(wide)));
      break;
    case 4:
      wide.push_back(s.tape.unary("gelu", any(wide)));
      break;
    case 5:
      if (!narrow.empty())
        wide.push_back(s.tape.broadcast("a", "ab", any(narrow), {{'b', 4}}));
      break;
    }
  auto uses = usesOf(s.tape.graph);
  int parameter = s.tape.parameter("whole", {4, 4});
  uses.resize(s.tape.graph.values.size());
  for (size_t v = 0; v < uses.size(); ++v)
    if (uses[v].empty() && s.tape.graph.values[v].producer >= 0) {
      bool isGradient = random() % 2;
      s.tape.graph.outputs.push_back(
          {static_cast<int>(v),
           isGradient ? OutputKind::Gradient : OutputKind::Plain, parameter});
    }
  return s;
}

TEST(Cut, IsTheCheapestAndEarliestLabelling) {
  std::mt19937 random(1);
  int interesting = 0;
  for (int round = 0; round < 600; ++round) {
    SCOPED_TRACE(round);
    Small s = randomGraph(random);
    s.axis.data = random() % 2;
    const Graph &g = s.tape.graph;
    Enumeration all(g, s.axis);
    int64_t cheapest = all.run();
    Factors factors = assignFactors(g, s.axis);
    Cut cut = minimumCut(g, s.axis, factors, findCarriers(g, s.axis, factors));
    ASSERT_EQ(cut.cost, cheapest);
    for (const std::vector<bool> &other : all.best)
      for (size_t i = 0; i < g.ops.size(); ++i)
        ASSERT_LE(cut.carried[i], other[i])
            << "op " << i << " could reduce earlier";
    interesting += std::count(cut.carried.begin(), cut.carried.end(), true) > 0;
  }
  EXPECT_GT(interesting, 50); // the graphs are not all trivial
}

TEST(Cut, AReductionToASplitCostsHalf) {
  Small s;
  int p = s.partial();
  s.output(s.tape.einsum("am,mb->ab", p, s.split({4, 4}, 0)));
  Factors factors = assignFactors(s.tape.graph, s.axis);
  auto uses = usesOf(s.tape.graph);
  EXPECT_EQ(reductionCost(s.tape.graph, factors, uses[p], p), 4 * 4 * 4);
  EXPECT_EQ(s.plan().axes[0].cost, 4 * 4 * 4 + 2 * 4 * 4 * 4);
}

TEST(Cut, GradientsOfWholeParametersAreAlwaysDelayed) {
  for (bool data : {false, true}) {
    Small s;
    s.axis.data = data;
    int w = s.tape.parameter("w", {4, 4});
    int sum = s.partial(), scaled = s.scale(sum);
    s.tape.graph.outputs.push_back({scaled, OutputKind::Gradient, w});
    Plan plan = s.plan();
    EXPECT_EQ(plan.axes[0].state[scaled], kPartial);
    EXPECT_EQ(plan.axes[0].cost, 0);
    EXPECT_TRUE(planReshards(s.tape.graph, plan).empty());
  }
}

TEST(Cut, TheLossIsDelayedOverADataAxisOnly) {
  for (bool data : {false, true}) {
    Small s;
    s.axis.data = data;
    s.tape.graph.outputs.push_back({s.partial(), OutputKind::Loss});
    EXPECT_EQ(planReshards(s.tape.graph, s.plan()).empty(), data);
  }
}

} // namespace
