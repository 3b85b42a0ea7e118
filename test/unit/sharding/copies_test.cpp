//===- copies_test.cpp - copies are split as their originals are ----------===//
#include "small_graph.h"

#include <gtest/gtest.h>

using namespace mtc::sharding;
using namespace mtc::sharding::test;

namespace {

/// A forward, and a backward that computes parts of it again.
struct Again : Small {
  /// A copy of the op that makes `value`, on these operands.
  int again(int value, std::vector<int> operands) {
    Graph &graph = tape.graph;
    Op copy = graph.ops[graph.values[value].producer];
    copy.copyOf = copy.tag;
    copy.tag = static_cast<int>(graph.ops.size());
    copy.backward = true;
    copy.operands = std::move(operands);
    graph.values.push_back(Tensor(graph.values[value]));
    graph.values.back().producer = copy.tag;
    copy.results = {static_cast<int>(graph.values.size()) - 1};
    graph.ops.push_back(copy);
    return copy.results[0];
  }
  /// A backward op that reads `value` in full.
  void readInFull(int value) {
    output(tape.unary("gelu", value));
    tape.graph.ops.back().backward = true;
  }
  int partialAgain(int value) {
    return again(value, operandsOf(tape.graph, value));
  }
  /// What the op that makes `value` requires of its operands.
  const std::vector<State> &required(const Plan &plan, int value) {
    return plan.axes[0].required[tape.graph.values[value].producer];
  }
};

TEST(Copies, OfASumAreSplitAsItIs) {
  Again s;
  int full = s.full(), p = s.partial(), q = s.partial();
  int sum = s.tape.add({p, full, q});
  s.output(s.tape.unary("gelu", sum));
  int p2 = s.partialAgain(p), q2 = s.partialAgain(q);
  int sum2 = s.again(sum, {p2, full, q2});
  s.readInFull(sum2);
  Plan plan = s.plan();
  const Graph &g = s.tape.graph;
  std::vector<int> operands = operandsOf(g, sum2);
  ASSERT_EQ(operands.size(), 2u);
  EXPECT_EQ(operandsOf(g, operands[0]), (std::vector<int>{p2, q2}));
  EXPECT_EQ(operands[1], full);
  EXPECT_TRUE(g.ops[g.values[operands[0]].producer].backward);
  EXPECT_EQ(operandsOf(g, operandsOf(g, sum)[0]), (std::vector<int>{p, q}));
  EXPECT_EQ(s.required(plan, sum2), s.required(plan, sum));
  EXPECT_EQ(plan.axes[0].state[operands[0]], kPartial);
  // One reduction in the forward and one in the backward.
  EXPECT_EQ(planReshards(g, plan).size(), 2u);
}

// Alone, the original would carry the partial sum through the scale; the
// backward reads the unscaled value in full. The two agree.
TEST(Copies, ReadersOfACopyCountForTheOriginal) {
  Again s;
  int p = s.partial();
  int scaled = s.scale(p);
  s.output(s.tape.add({scaled, s.scale(s.partial())}));
  int p2 = s.partialAgain(p);
  int scaled2 = s.again(scaled, {p2});
  s.readInFull(p2);
  s.readInFull(scaled2);
  Plan plan = s.plan();
  const Graph &g = s.tape.graph;
  EXPECT_EQ(s.required(plan, scaled), (std::vector<State>{kReplicated}));
  EXPECT_EQ(s.required(plan, scaled2), s.required(plan, scaled));
  EXPECT_EQ(plan.axes[0].state[scaled2], plan.axes[0].state[scaled]);
  EXPECT_EQ(operandsOf(g, scaled2), (std::vector<int>{p2}));
}

TEST(Copies, OfASumThatIsMergedAreLeftOut) {
  Again s;
  int a = s.full(), b = s.full(), c = s.full();
  int inner = s.tape.add({b, c});
  int outer = s.tape.add({a, inner});
  s.output(outer);
  int inner2 = s.again(inner, {b, c});
  int outer2 = s.again(outer, {a, inner2});
  s.readInFull(outer2);
  s.plan();
  const Graph &g = s.tape.graph;
  EXPECT_EQ(operandsOf(g, outer2), (std::vector<int>{a, b, c}));
  EXPECT_EQ(g.values[inner2].producer, -1);
  EXPECT_EQ(operandsOf(g, g.outputs[1].value), (std::vector<int>{outer2}));
}

} // namespace
