//===- reshards_test.cpp - how often and where shardings change -----------===//
#include "passes/sharding/check.h"
#include "small_graph.h"

#include <gtest/gtest.h>

using namespace mtc::sharding;
using namespace mtc::sharding::test;

namespace {

TEST(Reshards, OneReductionForAllReaders) {
  Small s;
  int p = s.partial();
  s.output(s.tape.unary("gelu", p));
  s.output(s.tape.unary("exp", p));
  auto reshards = planReshards(s.tape.graph, s.plan());
  ASSERT_EQ(reshards.size(), 1u);
  EXPECT_TRUE(reshards[0].afterProducer);
  EXPECT_EQ(reshards[0].uses.size(), 2u);
}

TEST(Reshards, ThreeProjectionsShareOneBackwardReduction) {
  Small s;
  int x = s.tape.input({2, 4, 8});
  int scale = s.tape.parameter("g", {8}), bias = s.tape.parameter("b", {8});
  int moved = s.tape.norm(x, scale, bias);
  std::vector<int> parts;
  for (int i = 0; i < 3; ++i)
    parts.push_back(s.tape.einsum("bse,ef->bsf", moved, s.split({8, 4}, 1)));
  s.tape.backward(s.tape.reduceSum("bsf", "", s.tape.add(parts)));
  int reductions = 0;
  for (const Reshard &r : planReshards(s.tape.graph, s.plan()))
    reductions +=
        r.from[0] == kPartial &&
        s.tape.graph.ops[s.tape.graph.values[r.value].producer].backward;
  EXPECT_EQ(reductions, 1);
}

TEST(Reshards, ReduceScatterIfAllReadersWantOneSplit) {
  Small s;
  int p = s.partial();
  s.output(s.tape.einsum("am,mb->ab", p, s.split({4, 4}, 0)));
  auto reshards = planReshards(s.tape.graph, s.plan());
  ASSERT_EQ(reshards.size(), 2u);
  EXPECT_EQ(reshards[0].to, std::vector<State>{1});
  EXPECT_EQ(reshards[1].to, std::vector<State>{kReplicated});
}

TEST(Reshards, AllReduceAndALocalSliceIfReadersDiffer) {
  Small s;
  int p = s.partial();
  s.output(s.tape.unary("gelu", p));
  s.output(s.tape.einsum("am,mb->ab", p, s.split({4, 4}, 0)));
  auto reshards = planReshards(s.tape.graph, s.plan());
  ASSERT_EQ(reshards.size(), 3u);
  EXPECT_EQ(reshards[0].to, std::vector<State>{kReplicated});
  EXPECT_EQ(reshards[1].input, 0);
  EXPECT_EQ(reshards[1].to, std::vector<State>{1});
}

TEST(Reshards, GatherOncePerPhase) {
  Small s;
  int w = s.split({4, 4, 4}, 2);
  std::vector<int> params = {s.tape.parameter("g", {4}),
                             s.tape.parameter("b", {4})};
  for (bool isBackward : {false, false, true}) {
    s.output(s.tape.norm(w, params[0], params[1]));
    s.tape.graph.ops.back().backward = isBackward;
  }
  auto reshards = planReshards(s.tape.graph, s.plan());
  ASSERT_EQ(reshards.size(), 2u);
  EXPECT_EQ(reshards[0].before, 0);
  EXPECT_EQ(reshards[0].uses.size(), 2u);
  EXPECT_EQ(reshards[1].before, 2);
}

TEST(Reshards, AGradientEndsAsItsParameterLies) {
  Small s;
  int w = s.split({4, 4}, 0), other = s.split({4, 4}, 1);
  int split = s.split({4, 4}, 0), whole = s.tape.parameter("whole", {4, 4});
  int splitElsewhere = s.tape.unary("exp", other);
  int scattered = s.partial(), partial = s.partial();
  s.tape.graph.outputs = {{splitElsewhere, OutputKind::Gradient, w},
                          {scattered, OutputKind::Gradient, split},
                          {partial, OutputKind::Gradient, whole}};
  Plan plan = s.plan();
  auto reshards = planReshards(s.tape.graph, plan);
  ASSERT_EQ(reshards.size(), 2u);
  EXPECT_EQ(reshards[0].value, scattered);
  EXPECT_EQ(reshards[0].from[0], kPartial);
  EXPECT_EQ(reshards[0].to[0], 0);
  EXPECT_EQ(reshards[1].value, splitElsewhere);
  EXPECT_EQ(reshards[1].from[0], 1);
  EXPECT_EQ(reshards[1].to[0], 0);
  // That of a whole parameter waits for the end of the step.
  EXPECT_EQ(plan.axes[0].outputRequired[2], kPartial);
}

TEST(CheckReshard, OuterAxisWaitsForTheInner) {
  EXPECT_NE(checkReshard({0, 0}, {kReplicated, 0}), "");
  EXPECT_NE(checkReshard({kReplicated, 0}, {0, 0}), "");
  EXPECT_EQ(checkReshard({0, 0}, {0, kReplicated}), "");
  EXPECT_EQ(checkReshard({0, 0}, {kReplicated, kReplicated}), "");
  EXPECT_EQ(checkReshard({1, 0}, {kReplicated, 0}), "");
}

const Rule kMatmul{{"am", "mb"}, {"ab"}, "", {{0}, {1}}};

TEST(CheckStates, AcceptsWhatTheRuleAllows) {
  constexpr State R = kReplicated, P = kPartial;
  EXPECT_EQ(checkStates(kMatmul, {R, R}, {R}), "");
  EXPECT_EQ(checkStates(kMatmul, {0, R}, {0}), "");
  EXPECT_EQ(checkStates(kMatmul, {R, 1}, {1}), "");
  EXPECT_EQ(checkStates(kMatmul, {1, 0}, {P}), "");
  EXPECT_EQ(checkStates(kMatmul, {P, R}, {P}), "");
  EXPECT_EQ(checkStates(kMatmul, {R, P}, {P}), "");
  EXPECT_EQ(checkStates({{"a"}, {"ab"}}, {R}, {1}), ""); // each makes its part
}

TEST(CheckStates, RejectsTheRest) {
  constexpr State R = kReplicated, P = kPartial, M = kMax;
  EXPECT_NE(checkStates(kMatmul, {1, R}, {P}), "");
  EXPECT_NE(checkStates(kMatmul, {1, 0}, {R}), "");
  EXPECT_NE(checkStates(kMatmul, {0, 1}, {0}), "");
  EXPECT_NE(checkStates(kMatmul, {P, P}, {P}), "");
  EXPECT_NE(checkStates(kMatmul, {1, P}, {P}), "");
  EXPECT_NE(checkStates(kMatmul, {P, R}, {R}), "");
  EXPECT_NE(checkStates(kMatmul, {M, R}, {P}), "");
  EXPECT_NE(checkStates(kMatmul, {R, R}, {P}), "");
  EXPECT_NE(checkStates({{"ab"}, {"ab"}, "b"}, {1}, {1}), "");
  EXPECT_NE(checkStates({{"a", "a"}, {"a"}, "", {{0, 1}}}, {P, R}, {P}), "");
}

} // namespace
