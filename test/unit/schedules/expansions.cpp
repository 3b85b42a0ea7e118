//===- expansions.cpp - all plans of a schedule ---------------------------===//
#include "expansions.h"

#include "interpreter.h"
#include "oracle.h"
#include "passes/pipeline/schedules/check.h"
#include "passes/pipeline/schedules/plan_check.h"
#include "passes/pipeline/schedules/waitfor.h"

#include <gtest/gtest.h>

namespace mtc::schedules::test {

void expectEveryExpansionRuns(const Schedule &schedule) {
  ASSERT_EQ(render(checkSchedule(schedule)), "");
  std::optional<Outcome> first;
  auto expectRuns = [&](const Plan &plan) {
    ASSERT_EQ(render(checkPlan(plan)), "") << printPlan(plan);
    ASSERT_EQ(render(verifyMachine(repeatSteps(machineOf(plan), 2))), "");
    Outcome outcome = interpret(plan, 2);
    ASSERT_EQ(outcome.error, "");
    if (!first)
      first = outcome;
    EXPECT_EQ(outcome.sums, first->sums);
  };
  for (int depth : {1, 2, unlimitedDepth}) {
    SCOPED_TRACE("d=" + std::to_string(depth));
    for (Grouping grouping :
         {Grouping::Single, Grouping::SameStamp, Grouping::WholeGap})
      expectRuns(makePlan(schedule, depth, grouping));
    SCOPED_TRACE("apart");
    expectRuns(makePlan(schedule, depth, Grouping::SameStamp, /*apart=*/true));
  }
}

} // namespace mtc::schedules::test
