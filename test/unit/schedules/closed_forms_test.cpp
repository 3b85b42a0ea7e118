//===- closed_forms_test.cpp - formulas against the simulation ------------===//

#include "oracle.h"
#include "passes/pipeline/schedules/check.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

namespace mtc::schedules::test {
namespace {

int64_t bubbleOf(const Schedule &schedule, const Costs &costs) {
  return asap(schedule, costs).makespan - idealTime(schedule, costs);
}

/// How many rows claim a closed form: each must hold for some setting.
template <typename Form> size_t rowsWith(Form Generator::*form) {
  return std::ranges::count_if(generators(),
                               [&](const Generator &row) { return row.*form; });
}

TEST(ClosedForms, BubbleEqualsSimulation) {
  std::map<std::string_view, int> compared;
  for (const Setting &setting : settings(6, 12, 3)) {
    SCOPED_TRACE(nameOf(setting));
    Schedule schedule = make(setting.name, setting.params);
    ASSERT_EQ(render(checkSchedule(schedule)), "");
    for (Costs costs :
         {Costs{1, 2, 1, 1}, {2, 3, 2, 1}, {3, 5, 4, 1}, {5, 1, 1, 3}}) {
      const Generator *row = findGenerator(setting.name);
      auto form =
          row->bubble ? row->bubble(setting.params, costs) : std::nullopt;
      if (!form)
        continue;
      EXPECT_EQ(*form, bubbleOf(schedule, costs));
      ++compared[setting.name];
    }
  }
  EXPECT_EQ(compared.size(), rowsWith(&Generator::bubble));
}

TEST(ClosedForms, ZeroBubbleForAllCosts) {
  for (int p = 1; p <= 6; ++p)
    for (int m = 1; m <= 12; ++m) {
      Params params{p, m, 1, 0};
      Schedule schedule = make("zb-h1", params);
      for (int64_t code = 0; code < 64; ++code) {
        Costs costs{1 + code % 4, 2, 1 + code / 4 % 4, 1 + code / 16};
        ASSERT_EQ(*findGenerator("zb-h1")->bubble(params, costs),
                  bubbleOf(schedule, costs))
            << p << " " << m << " " << code;
      }
    }
}

TEST(ClosedForms, LatencyEqualsSimulation) {
  const Costs costs{10, 20, 10, 10};
  std::map<std::string_view, int> compared;
  for (const Setting &setting : settings(6, 12, 3)) {
    SCOPED_TRACE(nameOf(setting));
    const Generator *row = findGenerator(setting.name);
    auto form =
        row->latencyFactor ? row->latencyFactor(setting.params) : std::nullopt;
    if (!form)
      continue;
    Schedule schedule = make(setting.name, setting.params);
    EXPECT_EQ(*form, asap(schedule, costs, 1).makespan -
                         asap(schedule, costs, 0).makespan);
    ++compared[setting.name];
  }
  EXPECT_EQ(compared.size(), rowsWith(&Generator::latencyFactor));
}

TEST(ClosedForms, LeadAndInFlightEqualTheLists) {
  for (const Setting &setting : settings(6, 12, 3)) {
    SCOPED_TRACE(nameOf(setting));
    Schedule schedule = make(setting.name, setting.params);
    const Generator *row = findGenerator(setting.name);
    for (int r = 0; r < setting.params.p; ++r) {
      const std::vector<Slot> &line = schedule.slots[r];
      auto end = std::find_if(line.begin(), line.end(), [](const Slot &slot) {
        return slot.phase != Phase::F;
      });
      EXPECT_EQ(row->lead(setting.params, r), end - line.begin());
      EXPECT_EQ(row->inFlight(setting.params, r),
                mostBetween(schedule, r, Role::Forward, Role::Backward));
    }
  }
}

// Pending weight gradients of stage r: min(m, r+1), 1 at least; F to W:
// min(m,p).
TEST(ClosedForms, ZeroBubbleMemory) {
  for (int p = 1; p <= 6; ++p)
    for (int m = 1; m <= 12; ++m) {
      Schedule schedule = make("zb-h1", {p, m, 1, 0});
      for (int r = 0; r < p; ++r) {
        EXPECT_EQ(mostBetween(schedule, r, Role::Backward, Role::Weight),
                  std::min(m, r + 1));
        EXPECT_EQ(mostBetween(schedule, r, Role::Forward, Role::Weight),
                  std::min(m, p));
      }
    }
}

} // namespace
} // namespace mtc::schedules::test
