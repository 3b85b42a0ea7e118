//===- adds_test.cpp - sums are flattened and split -----------------------===//
#include "passes/sharding/adds.h"
#include "small_graph.h"

#include <gtest/gtest.h>

using namespace mtc::sharding;
using namespace mtc::sharding::test;

namespace {

TEST(FlattenAdds, MergesInOrder) {
  Small s;
  int a = s.full(), b = s.full(), c = s.full();
  int outer = s.tape.add({a, s.tape.add({b, c})});
  s.output(outer);
  flattenAdds(s.tape.graph);
  EXPECT_EQ(s.tape.graph.ops.size(), 1u);
  EXPECT_EQ(operandsOf(s.tape.graph, outer), (std::vector<int>{a, b, c}));
}

TEST(FlattenAdds, KeepsSumsOfOtherLayersPhasesAndUses) {
  Small layers, phases, uses;
  for (Small *s : {&layers, &phases, &uses}) {
    int inner = s->tape.add({s->full(), s->full()});
    s->tape.layer = s == &layers;
    s->output(s->tape.add({inner, s->full()}));
    s->tape.graph.ops.back().backward = s == &phases;
    if (s == &uses)
      s->output(inner);
    flattenAdds(s->tape.graph);
    EXPECT_EQ(s->tape.graph.ops.size(), 2u);
  }
}

TEST(FlattenAdds, PrimalsFollow) {
  Small s;
  int inner = s.tape.add({s.full(), s.full()});
  int outer = s.tape.add({inner, s.full()});
  s.output(outer);
  int cotangent = s.full();
  s.tape.graph.values[cotangent].primal = inner;
  flattenAdds(s.tape.graph);
  EXPECT_EQ(s.tape.graph.values[cotangent].primal, outer);
}

TEST(SplitAdds, PartialOperandsFirstAndReducedOnce) {
  Small s;
  int full = s.full(), p = s.partial(), q = s.partial();
  int sum = s.tape.add({p, full, q});
  s.output(s.tape.unary("gelu", sum));
  Plan plan = s.plan();
  const Graph &g = s.tape.graph;
  std::vector<int> operands = operandsOf(g, sum);
  ASSERT_EQ(operands.size(), 2u);
  EXPECT_EQ(operandsOf(g, operands[0]), (std::vector<int>{p, q}));
  EXPECT_EQ(operands[1], full);
  auto reshards = planReshards(g, plan);
  ASSERT_EQ(reshards.size(), 1u);
  EXPECT_EQ(reshards[0].value, operands[0]);
}

TEST(SplitAdds, CertainPartialsBeforeThoseThatNeedACarrier) {
  Small s;
  int p = s.partial(), late = s.scale(s.partial()), q = s.partial();
  int sum = s.tape.add({late, p, s.full(), q});
  s.output(s.tape.unary("gelu", sum));
  s.plan();
  const Graph &g = s.tape.graph;
  int second = operandsOf(g, sum)[0], first = operandsOf(g, second)[0];
  EXPECT_EQ(operandsOf(g, first), (std::vector<int>{p, q}));
  EXPECT_EQ(operandsOf(g, second)[1], late);
}

TEST(SplitAdds, LeavesWhatOthersNeedInFull) {
  Small s;
  int p = s.partial(), q = s.partial();
  int sum = s.tape.add({p, s.full(), q});
  s.output(sum);
  s.output(s.tape.unary("gelu", p));
  s.plan();
  EXPECT_EQ(operandsOf(s.tape.graph, sum).size(), 3u);
}

TEST(SplitAdds, LeavesASumOfPartialsAlone) {
  Small s;
  int sum = s.tape.add({s.partial(), s.partial(), s.partial()});
  s.output(sum);
  Plan plan = s.plan();
  EXPECT_EQ(operandsOf(s.tape.graph, sum).size(), 3u);
  auto reshards = planReshards(s.tape.graph, plan);
  ASSERT_EQ(reshards.size(), 1u);
  EXPECT_EQ(reshards[0].value, sum);
}

} // namespace
