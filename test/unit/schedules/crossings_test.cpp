//===- crossings_test.cpp - plans of more than a chain --------------------===//

#include "expansions.h"
#include "oracle.h"
#include "passes/pipeline/schedules/check.h"
#include "passes/pipeline/schedules/plan_check.h"

#include <gtest/gtest.h>

#include <random>

namespace mtc::schedules::test {
namespace {

/// Two values over each boundary, and one from the first virtual stage to the
/// last, with gradients that come back directly.
Crossings skips(int count) {
  std::vector<Crossing> rows;
  auto add = [&](int64_t number, int from, int to, int64_t bytes) {
    rows.push_back({{false, number}, from, to, bytes});
    rows.push_back({{true, number}, to, from, bytes});
  };
  for (int u = 0; u + 1 < count; ++u) {
    add(0, u, u + 1, 1024);
    add(1, u, u + 1, 64);
  }
  if (count > 2)
    add(2, 0, count - 1, 256);
  return Crossings::table(rows);
}

/// The chain, and at random values that go farther; gradients of some of them
/// come back to other virtual stages than those that sent the values.
Crossings randomCrossings(int count, std::mt19937 &random) {
  std::vector<Crossing> rows;
  auto add = [&](bool gradient, int from, int to) {
    int64_t number = std::abs(from - to) == 1 ? 0 : 1;
    auto taken = [&](const Crossing &row) {
      return row.name == CrossingName{gradient, number} &&
             (row.from == from || row.to == to);
    };
    while (std::any_of(rows.begin(), rows.end(), taken))
      ++number;
    rows.push_back({{gradient, number}, from, to, 64 * (number + 1)});
  };
  for (int u = 0; u + 1 < count; ++u) {
    add(false, u, u + 1);
    add(true, u + 1, u);
  }
  for (int more = 0; count > 1 && more < 6; ++more) {
    int low = static_cast<int>(random() % (count - 1));
    int high = low + 1 + static_cast<int>(random() % (count - 1 - low));
    more % 2 ? add(true, high, low) : add(false, low, high);
  }
  return Crossings::table(rows);
}

TEST(Crossings, EverySettingRunsWithSkips) {
  for (const Setting &setting : settings(5, 5, 2)) {
    SCOPED_TRACE(nameOf(setting));
    Schedule schedule = make(setting.name, setting.params);
    schedule.crossings = skips(schedule.virtualStages());
    expectEveryExpansionRuns(schedule);
  }
}

TEST(Crossings, RandomOnesRun) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 120; ++trial)
    for (const char *name : {"gpipe", "1f1b", "zb-h1"}) {
      int p = 2 + static_cast<int>(random() % 4),
          m = 1 + static_cast<int>(random() % 5);
      Schedule schedule = make(name, {p, m, 1, 0});
      schedule.crossings = randomCrossings(p, random);
      SCOPED_TRACE(std::string(name) + " " + std::to_string(trial));
      expectEveryExpansionRuns(schedule);
    }
}

TEST(Crossings, AValueIsSentDirectly) {
  Schedule schedule = make("gpipe", {3, 1, 1, 0});
  schedule.crossings = skips(3);
  EXPECT_EQ(printPlan(makePlan(schedule, 1)),
            "F0 {>1:a0.0@0 >1:a0.0.1@0 >2:a0.0.2@0} {<2:g0.2.2@0} "
            "{<1:g0.1@0 <1:g0.1.1@0} B0\n"
            "{<0:a0.0@0 <0:a0.0.1@0} F0 {>2:a0.1@0 >2:a0.1.1@0} "
            "{<2:g0.2@0 <2:g0.2.1@0} B0 {>0:g0.1@0 >0:g0.1.1@0}\n"
            "{<0:a0.0.2@0} {<1:a0.1@0 <1:a0.1.1@0} F0 B0 "
            "{>1:g0.2@0 >1:g0.2.1@0 >0:g0.2.2@0}\n");
}

TEST(Crossings, WhatATableMayNotSay) {
  auto expect = [](std::vector<Crossing> rows, const char *text) {
    Schedule schedule = make("gpipe", {3, 1, 1, 0});
    schedule.crossings = Crossings::table(std::move(rows));
    std::string found = render(checkSchedule(schedule));
    EXPECT_NE(found.find(text), std::string::npos) << found;
    EXPECT_NE(found.find("crossing: "), std::string::npos) << found;
  };
  expect({{{false, 1}, 1, 3}}, "expected virtual stages 0 to 2");
  expect({{{false, 1}, 2, 0}}, "expected a later virtual stage");
  expect({{{true, 1}, 0, 2}}, "expected an earlier virtual stage");
  expect({{{false, 64}, 0, 2}}, "expected fewer than 64 values");
  expect({{{false, 1}, 0, 1}, {{false, 1}, 0, 2}},
         "virtual stage 0 sends two values of this name");
  expect({{{false, 1}, 0, 2}, {{false, 1}, 1, 2}},
         "virtual stage 2 receives two values of this name");
}

/// The first transfer of a further value on a rank.
Transfer *further(Plan &plan, int rank) {
  for (Item &item : plan.ranks[rank])
    if (auto *exchange = std::get_if<Exchange>(&item))
      for (Transfer &t : exchange->transfers)
        if (t.name.number == 2)
          return &t;
  return nullptr;
}

TEST(Crossings, FaultsOfFurtherValuesAreFound) {
  Schedule schedule = make("1f1b", {3, 4, 1, 0});
  schedule.crossings = skips(3);
  const Plan good = makePlan(schedule, 1);
  ASSERT_EQ(render(checkPlan(good)), "");
  MtcPool sent = sendPool({false, 2});
  EXPECT_GT(good.pools[0][sent], 1);

  Plan plan = good; // a transfer that is dropped
  for (Item &item : plan.ranks[0])
    if (auto *exchange = std::get_if<Exchange>(&item))
      std::erase_if(exchange->transfers, [](const Transfer &t) {
        return t.name.number == 2 && t.microbatch == 1;
      });
  EXPECT_TRUE(hasCode(checkPlan(plan), "transfer-set"));
  EXPECT_TRUE(hasCode(checkPlan(plan), "unpaired"));

  plan = good; // a slot that two microbatches share
  for (Item &item : plan.ranks[0])
    if (auto *compute = std::get_if<Compute>(&item))
      for (Operand &operand : compute->writes)
        if (operand.pool == sent)
          operand.slot = 0;
  EXPECT_TRUE(hasCode(checkPlan(plan), "wrong-value"));

  plan = good; // a pool that is too small
  plan.pools[0][sent] = 1;
  EXPECT_TRUE(hasCode(checkPlan(plan), "slot-range"));

  plan = good; // the tag of another microbatch
  further(plan, 0)->microbatch = 1;
  EXPECT_TRUE(hasCode(checkPlan(plan), "pair-order"));

  plan = good; // the name of another value
  further(plan, 0)->name.number = 1;
  EXPECT_TRUE(hasCode(checkPlan(plan), "transfer-set"));

  plan = good; // another size
  further(plan, 0)->bytes = 64;
  EXPECT_TRUE(hasCode(checkPlan(plan), "pair-size"));
}

TEST(Crossings, NamesPoolsAndTagsAreDifferent) {
  std::set<std::string> names;
  std::set<int> pools;
  std::set<int64_t> tags;
  for (bool gradient : {false, true})
    for (int64_t number = 0; number < CrossingName::kNumbers; ++number) {
      CrossingName name{gradient, number};
      EXPECT_EQ(crossingNamed(name.text()), name);
      names.insert(name.text());
      for (bool sends : {false, true}) {
        MtcPool pool = crossingPool(name, sends);
        EXPECT_LT(pool, MTC_POOL_LIMIT);
        EXPECT_EQ(poolNamed(poolName(pool)), pool);
        EXPECT_EQ(crossingEnd(pool)->name, name);
        EXPECT_EQ(crossingEnd(pool)->sends, sends);
        pools.insert(pool);
      }
      for (int64_t stage : {int64_t(0), int64_t(1), Tag::kStages - 1})
        for (int64_t microbatch : {int64_t(0), Tag::kMicrobatches - 1})
          tags.insert(Tag{name, microbatch, stage}.encoded());
    }
  EXPECT_EQ(names.size(), 128u);
  EXPECT_EQ(pools.size(), 256u);
  EXPECT_EQ(tags.size(), 128u * 6);
  EXPECT_FALSE((Tag{{false, 64}, 0, 0}.fits()));
  EXPECT_FALSE(crossingNamed("activation.0"));
  EXPECT_FALSE(crossingNamed("activation.64"));
  EXPECT_FALSE(poolNamed("recv_"));
}

} // namespace
} // namespace mtc::schedules::test
