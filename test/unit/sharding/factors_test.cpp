//===- factors_test.cpp - the factor of each op; who may carry ------------===//
#include "passes/sharding/axis.h"
#include "small_graph.h"

#include <gtest/gtest.h>

using namespace mtc::sharding;
using namespace mtc::sharding::test;

namespace {

TEST(Factors, ParameterDecidesOverLargerOperand) {
  Small s;
  int x = s.tape.input({64, 4});
  s.axis.seeds[x] = 0;
  s.tape.einsum("am,mb->ab", x, s.split({4, 4}, 1));
  Factors f = assignFactors(s.tape.graph, s.axis);
  EXPECT_EQ(f.split[0], 'b');
  ASSERT_EQ(f.remarks.size(), 1u);
  EXPECT_NE(f.remarks[0].text.find("different dimensions"), std::string::npos);
}

TEST(Factors, LargerOperandDecidesAmongParameters) {
  Small s;
  s.tape.einsum("am,mb->ab", s.split({2, 4}, 0), s.split({4, 64}, 1));
  EXPECT_EQ(assignFactors(s.tape.graph, s.axis).split[0], 'b');
}

TEST(Factors, BlockedDimensionIsGathered) {
  Small s;
  int x = s.split({2, 4, 8}, 2);
  s.output(
      s.tape.norm(x, s.tape.parameter("g", {8}), s.tape.parameter("b", {8})));
  Plan plan = s.plan();
  ASSERT_EQ(plan.axes[0].remarks.size(), 1u);
  auto reshards = planReshards(s.tape.graph, plan);
  ASSERT_EQ(reshards.size(), 1u);
  EXPECT_EQ(reshards[0].from, std::vector<State>{2});
  EXPECT_EQ(reshards[0].to, std::vector<State>{kReplicated});
}

// Four heads of queries, and one or two of keys, over two ranks.
TEST(Factors, WithASizeThatDoesNotDivideIsGathered) {
  for (int64_t keys : {1, 2}) {
    Small s;
    int q = s.split({4, 8}, 0);
    s.tape.op("attend", {q, s.tape.input({keys, 8})}, {{"kd", "kd"}, {"kd"}},
              {{'k', 4}});
    Factors f = assignFactors(s.tape.graph, s.axis);
    EXPECT_EQ(f.split[0], keys == 2 ? 'k' : 0);
    EXPECT_EQ(f.remarks.size(), keys == 2 ? 0u : 1u);
  }
}

TEST(Factors, ContractionGivesASumOrAMaximum) {
  Small s;
  int x = s.split({4, 4}, 1);
  int sum = s.tape.reduceSum("ab", "a", x);
  int top = s.tape.op("reduce_max", {x}, {{"ab"}, {"a"}, "", {}, true})[0];
  Factors f = assignFactors(s.tape.graph, s.axis);
  EXPECT_EQ(f.source[sum], kPartial);
  EXPECT_EQ(f.source[top], kMax);
}

TEST(Factors, CotangentFollowsItsPrimal) {
  Small s;
  int z = s.split({4, 4}, 1);
  int dz = s.tape.broadcast("a", "ab", s.tape.input({4}), {{'b', 4}});
  EXPECT_EQ(assignFactors(s.tape.graph, s.axis).split[0], 0);
  s.tape.graph.values[dz].primal = z;
  Factors f = assignFactors(s.tape.graph, s.axis);
  EXPECT_EQ(f.split[0], 'b');
  EXPECT_EQ(f.strong[dz], 1);
}

TEST(Factors, BroadcastMakesThePartThatReadersWant) {
  Small s;
  int wide = s.tape.broadcast("a", "ab", s.tape.input({4}), {{'b', 4}});
  s.tape.mul(wide, s.split({4, 4}, 1));
  EXPECT_EQ(assignFactors(s.tape.graph, s.axis).split[0], 'b');
  s.tape.mul(wide, s.split({4, 4}, 0));
  EXPECT_EQ(assignFactors(s.tape.graph, s.axis).split[0], 0);
}

/// Rows of a table that lies in another type than they are added in.
TEST(Factors, WhatIsMadeOfNothingIsMadeInPartsThroughACast) {
  Small s;
  int ids = s.tape.op("iota", {}, {{}, {"ab"}}, {{'a', 4}, {'b', 4}})[0];
  int rows = s.tape.embed(ids, s.tape.parameter("table", {8, 2}));
  s.tape.mul(s.tape.unary("cast", rows), s.split({4, 4, 2}, 1));
  Factors f = assignFactors(s.tape.graph, s.axis);
  for (int op : {0, 1, 2})
    EXPECT_EQ(f.strong[s.tape.graph.ops[op].results[0]], 1) << op;
}

TEST(Carriers, NormBackwardIsNone) {
  Small s;
  int dy =
      s.tape.einsum("bsm,me->bse", s.split({2, 4, 2}, 2), s.split({2, 8}, 0));
  int x = s.tape.input({2, 4, 8}), rows = s.tape.input({2, 4});
  for (bool isNorm : {false, true})
    s.tape.op("norm_dscale", {dy, x, rows, rows},
              {.operands = {"bse", "bse", "bs", "bs"},
               .results = {"e"},
               .blocked = "e",
               .linear = {{0}},
               .normBackward = isNorm});
  // The second op needs dy in full, so the first may not carry it either.
  Carriers c =
      findCarriers(s.tape.graph, s.axis, assignFactors(s.tape.graph, s.axis));
  EXPECT_EQ(c.group, (std::vector<int>{-1, -1, -1}));
  s.tape.graph.ops.pop_back();
  c = findCarriers(s.tape.graph, s.axis, assignFactors(s.tape.graph, s.axis));
  EXPECT_EQ(c.group, (std::vector<int>{-1, 0}));
}

TEST(Carriers, AnOpThatUsesTheAxisIsNone) {
  Small s;
  // A[S(m)]·B[P]: only local terms would be added.
  s.tape.einsum("am,mb->ab", s.split({4, 4}, 1), s.partial());
  Carriers c =
      findCarriers(s.tape.graph, s.axis, assignFactors(s.tape.graph, s.axis));
  EXPECT_EQ(c.group.back(), -1);
}

} // namespace
