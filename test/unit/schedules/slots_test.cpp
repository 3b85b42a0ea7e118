//===- slots_test.cpp - how many slots plans need -------------------------===//

#include "interpreter.h"
#include "oracle.h"
#include "passes/pipeline/schedules/plan_check.h"

#include <gtest/gtest.h>

namespace mtc::schedules::test {
namespace {

/// Slots of one pool on one rank.
int count(const Plan &plan, MtcPool pool, int rank) {
  return plan.pools[rank][static_cast<int>(pool)];
}

void expectPools(const Plan &plan, const Json &expected) {
  for (const auto &[pool, text] : kPools) {
    std::string name(text);
    if (!expected.contains(name))
      continue;
    for (int rank = 0; rank < plan.stages; ++rank)
      EXPECT_EQ(plan.pools[rank][pool], expected[name][rank])
          << name << " of rank " << rank;
  }
}

TEST(Slots, GoldenCounts) {
  for (const Json &item : loadCases("schedules"))
    for (const auto &[depth, expected] : item["expand"].items()) {
      SCOPED_TRACE(nameOf(item) + " d=" + depth);
      ExpandOptions options;
      options.depth = depthOf(depth);
      Schedule schedule =
          make(item["schedule"].get<std::string>(), paramsOf(item));
      Findings findings;
      expectPools(expand(schedule, options, findings).value(),
                  expected["slots"]);
      options.overlap = true;
      expectPools(expand(schedule, options, findings).value(),
                  expected["overlap_slots"]);
    }
}

TEST(Slots, ClosedForms) {
  for (int p = 2; p <= 5; ++p)
    for (int m = 1; m <= 8; ++m) {
      Params params{p, m, 1, 0};
      Plan shallow = makePlan(make("1f1b", params), 1);
      Plan deep = makePlan(make("1f1b", params), 2);
      Plan zero = makePlan(make("zb-h1", params), 2);
      Plan fill = makePlan(make("gpipe", params), 2);
      for (int r = 1; r < p; ++r) {
        EXPECT_EQ(count(shallow, MTC_POOL_RECV_ACTIVATION, r),
                  std::min(m, p - r));
        EXPECT_EQ(count(deep, MTC_POOL_RECV_ACTIVATION, r),
                  std::min(m, p - r + 1));
        EXPECT_EQ(count(zero, MTC_POOL_RECV_ACTIVATION, r), std::min(m, p));
        EXPECT_EQ(count(zero, MTC_POOL_SAVED, r), std::min(m, p - r));
        EXPECT_EQ(count(zero, MTC_POOL_SPLIT, r), std::min(m, r + 1));
        EXPECT_EQ(count(fill, MTC_POOL_RECV_ACTIVATION, r), m);
        EXPECT_EQ(count(deep, MTC_POOL_SEND_GRADIENT, r), 1);
      }
      EXPECT_EQ(count(shallow, MTC_POOL_RECV_ACTIVATION, 0), 0);
    }
}

// Activations that went around early wait on the last stage when received late
// (G-p+1 of them), and on the first stage when sent at once.
TEST(Slots, InterleavedSendersHoldLeastAtUnlimitedDepth) {
  for (const Setting &setting : settings(4, 8, 3)) {
    if (setting.name != "interleaved-1f1b")
      continue;
    SCOPED_TRACE(nameOf(setting));
    Plan deep = makePlan(make(setting.name, setting.params), unlimitedDepth);
    Plan shallow = makePlan(make(setting.name, setting.params), 1);
    int last = setting.params.p - 1;
    EXPECT_EQ(count(deep, MTC_POOL_SEND_ACTIVATION, last), 1);
    EXPECT_EQ(count(shallow, MTC_POOL_SEND_ACTIVATION, last),
              setting.params.G - setting.params.p + 1);
  }
}

TEST(Slots, OverlapPlansAreLegal) {
  for (const Setting &setting : settings(4, 5, 2)) {
    SCOPED_TRACE(nameOf(setting));
    ExpandOptions options;
    options.overlap = true;
    Findings findings;
    auto plan = expand(make(setting.name, setting.params), options, findings);
    EXPECT_EQ(render(checkPlan(plan.value())), "");
    EXPECT_EQ(interpret(*plan, 2).error, "");
  }
}

/// Microbatches of a rank that are computed again, in order of their forwards.
std::vector<int> smallOnes(const Plan &plan, int rank) {
  std::vector<int> found;
  for (const Item &item : plan.ranks[rank])
    if (const Compute *compute = std::get_if<Compute>(&item);
        compute && compute->isSmall && compute->slot.phase == Phase::F)
      found.push_back(compute->slot.microbatch);
  return found;
}

// Of W slots N are small, all where N is more; the plan is as legal, and its
// sums are those of large slots alone.
TEST(Slots, SmallOnesTakeThePlaceOfLargeOnes) {
  for (const Setting &setting : settings(4, 5, 2))
    for (bool savesOperands : {false, true}) {
      Schedule schedule = make(setting.name, setting.params);
      schedule.savesOperands = savesOperands;
      Plan large = makePlan(schedule, 1);
      MtcPool longest = savesOperands ? MTC_POOL_OPERAND : MTC_POOL_SAVED;
      for (int small : {1, 2, 5}) {
        SCOPED_TRACE(nameOf(setting) + " small " + std::to_string(small));
        schedule.smallSlots = small;
        Plan plan = makePlan(schedule, 1);
        EXPECT_EQ(render(checkPlan(plan)), "");
        Outcome outcome = interpret(plan, 2);
        EXPECT_EQ(outcome.error, "");
        EXPECT_EQ(outcome.sums, interpret(large, 2).sums);
        for (int rank = 0; rank < plan.stages; ++rank) {
          int all = count(large, longest, rank), few = std::min(small, all);
          EXPECT_EQ(count(plan, againPool(longest), rank), few);
          EXPECT_EQ(count(plan, longest, rank), all - few);
        }
      }
    }
}

// A large slot is taken where one is free.
TEST(Slots, SmallOnesAreTakenLast) {
  Schedule schedule = make("gpipe", {2, 4, 1, 0});
  schedule.smallSlots = 1;
  EXPECT_EQ(smallOnes(makePlan(schedule, 1), 0), (std::vector<int>{3}));
  schedule = make("1f1b", {4, 8, 1, 0});
  schedule.smallSlots = 1;
  EXPECT_EQ(smallOnes(makePlan(schedule, 1), 0), (std::vector<int>{3, 7}));
  EXPECT_EQ(smallOnes(makePlan(schedule, 1), 3).size(), 8u); // its only slot
}

// Where no backward reads what a forward received, its slot is free behind the
// forward.
TEST(Slots, WhatIsNotReadAgainIsNotHeld) {
  Schedule schedule = make("1f1b", {4, 8, 1, 0});
  EXPECT_EQ(count(makePlan(schedule, 1), MTC_POOL_RECV_ACTIVATION, 1), 3);
  schedule.rereadsReceived = false;
  Plan plan = makePlan(schedule, 1);
  EXPECT_EQ(count(plan, MTC_POOL_RECV_ACTIVATION, 1), 1);
  EXPECT_EQ(render(checkPlan(plan)), "");
}

TEST(Slots, LimitLowersTheDepthThenRejects) {
  Schedule schedule = make("1f1b", {4, 8, 1, 0});
  ExpandOptions options;
  options.depth = unlimitedDepth;
  Findings findings;
  PoolCounts limit{3, 1, 1, 1, 4, 0};
  auto plan = expandWithin(schedule, options, limit, findings);
  ASSERT_TRUE(plan) << render(findings);
  EXPECT_EQ(printPlan(*plan), printPlan(makePlan(schedule, 1)));
  limit[0] = 2;
  EXPECT_FALSE(expandWithin(schedule, options, limit, findings));
  EXPECT_TRUE(hasCode(findings, "slot-limit")) << render(findings);
}

} // namespace
} // namespace mtc::schedules::test
