//===- generators_test.cpp - named schedules against the golden cases -----===//

#include "oracle.h"
#include "passes/pipeline/schedules/check.h"

#include <fstream>
#include <gtest/gtest.h>

namespace mtc::schedules::test {
namespace {

/// `F3B5I4W1` to costs.
Costs costsOf(const std::string &text) {
  Costs costs;
  EXPECT_EQ(std::sscanf(text.c_str(), "F%ldB%ldI%ldW%ld", &costs.F, &costs.B,
                        &costs.I, &costs.W),
            4);
  return costs;
}

Schedule scheduleOf(const Json &item) {
  return make(item["schedule"].get<std::string>(), paramsOf(item));
}

/// One schedule of by_hand.txt: `name p=2 m=3 [v=2 G=2]` and a line per stage.
struct Example {
  std::string name;
  Params params;
  std::string slots;
};

std::vector<Example> examplesByHand() {
  std::ifstream file(MTC_GOLDEN_DIR "/schedules/by_hand.txt");
  EXPECT_TRUE(file.good());
  std::vector<Example> examples;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    Example example;
    char name[32];
    Params &a = example.params;
    EXPECT_GE(std::sscanf(line.c_str(), "%31s p=%d m=%d v=%d G=%d", name, &a.p,
                          &a.m, &a.v, &a.G),
              3)
        << line;
    example.name = name;
    for (int stage = 0; stage < a.p && std::getline(file, line); ++stage)
      example.slots += line + "\n";
    examples.push_back(example);
  }
  return examples;
}

// A schedule is what somebody who did not write its function says it is.
TEST(Generators, EveryScheduleIsWrittenOutByHand) {
  std::set<std::string_view> seen;
  for (const Example &example : examplesByHand()) {
    SCOPED_TRACE(example.name);
    Schedule schedule = make(example.name, example.params);
    EXPECT_EQ(printSchedule(schedule), example.slots);
    EXPECT_EQ(schedule.name, example.name);
    if (example.params.p >= 3 && example.params.m > example.params.p)
      seen.insert(findGenerator(example.name)->name);
  }
  for (const Generator &row : generators())
    EXPECT_TRUE(seen.contains(row.name))
        << "expected slots of '" << row.name << "' with p >= 3 and m > p in "
        << "test/golden/schedules/by_hand.txt, found none";
}

TEST(Generators, EveryRowSaysWhatItIs) {
  for (const Generator &row : generators()) {
    EXPECT_FALSE(row.what.empty()) << row.name;
    EXPECT_EQ(trainingScheduleError(row.name).empty(), row.use == Use::Training)
        << row.name;
  }
  EXPECT_EQ(trainingScheduleError(defaultTraining), "");
  EXPECT_EQ(trainingScheduleError("1f2b").substr(0, 28),
            "schedule '1f2b' is unknown, ");
  EXPECT_EQ(trainingScheduleError("forward-only").substr(0, 39),
            "schedule 'forward-only' has no backward");
}

TEST(Generators, GoldenSlots) {
  std::set<std::string> seen;
  for (const Json &item : loadCases("schedules")) {
    SCOPED_TRACE(nameOf(item));
    Schedule schedule = scheduleOf(item);
    EXPECT_EQ(schedule.slots, userSchedule(item).slots);
    EXPECT_EQ(render(checkSchedule(schedule)), "");
    seen.insert(item["schedule"]);
  }
  EXPECT_EQ(seen.size(), 5u);
}

TEST(Generators, GoldenWarmupAndMemory) {
  for (const Json &item : loadCases("schedules")) {
    SCOPED_TRACE(nameOf(item));
    Schedule schedule = scheduleOf(item);
    const Generator *row = findGenerator(schedule.name);
    Params params = paramsOf(item);
    for (int r = 0; r < params.p; ++r) {
      EXPECT_EQ(row->warmup(params, r), item["warmup"][r]);
      EXPECT_EQ(row->lead(params, r), item["lead"][r]);
      EXPECT_EQ(row->inFlight(params, r), item["inflight"][r]);
      EXPECT_EQ(mostBetween(schedule, r, Role::Forward, Role::Backward),
                item["inflight"][r]);
      EXPECT_EQ(mostBetween(schedule, r, Role::Backward, Role::Weight),
                item["pending_w"][r]);
      EXPECT_EQ(mostBetween(schedule, r, Role::Forward, Role::Weight),
                item["live"][r]);
    }
  }
}

TEST(Generators, GoldenTimes) {
  for (const Json &item : loadCases("schedules")) {
    SCOPED_TRACE(nameOf(item));
    Schedule schedule = scheduleOf(item);
    for (const auto &[name, times] : item["bubble"].items()) {
      Costs costs = costsOf(name);
      int64_t makespan = asap(schedule, costs).makespan;
      EXPECT_EQ(makespan, times["makespan"]);
      EXPECT_EQ(makespan - idealTime(schedule, costs), times["bubble"]);
    }
    EXPECT_EQ(asap(schedule, {10, 20, 10, 10}, 1).makespan,
              item["makespan_F10B20I10W10_latency1"]);
    if (item.contains("start")) {
      EXPECT_EQ(Json(asap(schedule, Costs{}).start), item["start"]);
    }
  }
}

TEST(Generators, RejectedParametersNameAllRules) {
  int rejected = 0;
  for (const Json &item : loadCases("negative_schedules")) {
    if (!item.contains("generator"))
      continue;
    SCOPED_TRACE(nameOf(item));
    ++rejected;
    Findings findings;
    EXPECT_FALSE(generate(item["generator"].get<std::string>(), paramsOf(item),
                          findings));
    ASSERT_EQ(findings.size(), item["rules"].size()) << render(findings);
    for (size_t i = 0; i < findings.size(); ++i) {
      EXPECT_EQ(findings[i].code, "parameters");
      EXPECT_EQ(findings[i].message.rfind(item["rules"][i], 0), 0u)
          << findings[i].message;
    }
  }
  EXPECT_EQ(rejected, 5);
}

TEST(Generators, RejectsWhatMakesNoSense) {
  auto rejected = [](std::string_view name, Params params) {
    Findings findings;
    return !generate(name, params, findings) && !findings.empty();
  };
  EXPECT_TRUE(rejected("1f2b", {2, 2, 1, 0}));
  EXPECT_TRUE(rejected("1f1b", {0, 2, 1, 0}));
  EXPECT_TRUE(rejected("1f1b", {2, 0, 1, 0}));
  EXPECT_TRUE(rejected("1f1b", {2, 2, 2, 0}));
  EXPECT_TRUE(rejected("gpipe", {2, 2, 1, 2}));
  EXPECT_TRUE(rejected("interleaved-1f1b", {2, 2, 2, 3}));
  EXPECT_TRUE(rejected("interleaved-1f1b", {1, 2, 2, 2}));
  EXPECT_TRUE(rejected("forward-only", {2, 2, 2, 0}));
}

// The rule for G is exact: a setting with G <= m is legal when and only when
// its lists are acyclic and have the bubble (p-1)(F+B).
TEST(Generators, InterleavingRuleIsExact) {
  const Generator *row = findGenerator("interleaved-1f1b");
  int legal = 0, cyclic = 0, slow = 0;
  for (int p = 2; p <= 5; ++p)
    for (int m = 1; m <= 8; ++m)
      for (int v = 2; v <= 3; ++v)
        for (int G = 1; G <= m; ++G) {
          Params params{p, m, v, G};
          Schedule schedule = row->generate(params);
          Timing timing = asap(schedule, Costs{});
          bool tight = timing.complete &&
                       timing.makespan - idealTime(schedule, Costs{}) ==
                           *row->bubble(params, Costs{});
          bool allowed = row->check(params).empty();
          EXPECT_EQ(allowed, tight) << nameOf(Setting{row->name, params});
          ++(allowed ? legal : timing.complete ? slow : cyclic);
        }
  EXPECT_GT(legal, 0);
  EXPECT_GT(cyclic, 0);
  EXPECT_GT(slow, 0);
}

} // namespace
} // namespace mtc::schedules::test
