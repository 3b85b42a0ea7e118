//===- expand_test.cpp - expanded plans -----------------------------------===//

#include "expansions.h"
#include "interpreter.h"
#include "oracle.h"
#include "passes/pipeline/schedules/plan_check.h"
#include "passes/pipeline/schedules/waitfor.h"
#include "sha256.h"

#include <gtest/gtest.h>

namespace mtc::schedules::test {
namespace {

std::vector<std::string> linesOf(const Plan &plan) {
  std::vector<std::string> lines;
  for (int rank = 0; rank < plan.stages; ++rank)
    lines.push_back(printProgram(plan, rank));
  return lines;
}

TEST(Expand, GoldenPlans) {
  int plans = 0;
  for (const Json &item : loadCases("schedules"))
    for (const auto &[depth, expected] : item["expand"].items()) {
      SCOPED_TRACE(nameOf(item) + " d=" + depth);
      Schedule schedule =
          make(item["schedule"].get<std::string>(), paramsOf(item));
      std::vector<std::string> lines =
          linesOf(makePlan(schedule, depthOf(depth)));
      if (expected.contains("plan")) {
        EXPECT_EQ(Json(lines), expected["plan"]);
      }
      std::string text;
      for (const std::string &line : lines)
        text += (text.empty() ? "" : "\n") + line;
      EXPECT_EQ(sha256(text).substr(0, 16), expected["sha"].get<std::string>());
      ++plans;
    }
  EXPECT_EQ(plans, 120);
}

// Every named schedule, depth and grouping: accepted by the plan check, runs on
// the strictest machine, and two steps in a row neither deadlock nor differ.
TEST(Expand, EveryPlanIsLegalAndRuns) {
  for (const Setting &setting : settings(6, 7, 2)) {
    SCOPED_TRACE(nameOf(setting));
    expectEveryExpansionRuns(make(setting.name, setting.params));
  }
}

// All schedules of one chunk add the same weight gradients in the same
// order, whether B is whole or split.
TEST(Expand, SchedulesGiveTheSameSums) {
  int compared = 0;
  for (const Setting &setting : settings(4, 5, 1)) {
    if (findGenerator(setting.name)->use != Use::Training)
      continue;
    SCOPED_TRACE(nameOf(setting));
    Outcome gpipe = interpret(makePlan(make("gpipe", setting.params), 2));
    EXPECT_EQ(interpret(makePlan(make(setting.name, setting.params), 1)),
              gpipe);
    ++compared;
  }
  EXPECT_GE(compared, 3 * 4 * 5);
}

// Neighbouring virtual stages on one rank hand over in place.
TEST(Expand, FoldedPlacementNeedsNoTransferAtTheFold) {
  Findings findings;
  Schedule schedule = parseSchedule("F0.0 F0.1 B0.1 B0.0\n"
                                    "F0.0 F0.1 B0.1 B0.0\n",
                                    {2, 1, 2, Placement::Folded}, findings);
  Plan plan = makePlan(schedule, 1);
  EXPECT_EQ(printPlan(plan),
            "F0.0 {>1:a0.0@0} {<1:a0.2@0} F0.1 B0.1 {>1:g0.3@0} {<1:g0.1@0} "
            "B0.0\n"
            "{<0:a0.0@0} F0.0 F0.1 {>0:a0.2@0} {<0:g0.3@0} B0.1 B0.0 "
            "{>0:g0.1@0}\n");
  EXPECT_EQ(render(checkPlan(plan)), "");
  EXPECT_EQ(interpret(plan).error, "");
}

// Depth 1 receives behind the slot before the consumer, even behind the first.
TEST(Expand, DepthCountsFromTheFirstSlot) {
  Findings findings;
  Schedule schedule = parseSchedule("F0 F1\nF1 F0\n", {2, 2, 1, {}}, findings);
  EXPECT_EQ(printProgram(makePlan(schedule, 1), 1),
            "{<0:a1.0@0} F1 {<0:a0.0@0} F0");
  EXPECT_EQ(printProgram(makePlan(schedule, 2), 1),
            "{<0:a0.0@0} {<0:a1.0@1} F1 F0");
}

// 1F1B by hand: stage 0 has F1's activation ready when B0 begins and goes on
// while it is on its way; a buffer is waited for where it is written again.
TEST(Expand, PostsWhenMadeAndWaitsWhenNeeded) {
  Plan plan = makePlan(make("1f1b", {2, 3, 1, 0}), 1, Grouping::SameStamp,
                       /*apart=*/true);
  EXPECT_EQ(
      printPlan(plan),
      "F0 post{>1:a0.0@0} F1 post{>1:a1.0@1 <1:g0.1@0} wait{<1:g0.1@0} B0 "
      "wait{>1:a0.0@0} F2 post{>1:a2.0@0 <1:g1.1@0} wait{<1:g1.1@0} B1 "
      "post{<1:g2.1@0} wait{<1:g2.1@0} B2 wait{>1:a2.0@0 >1:a1.0@1}\n"
      "post{<0:a0.0@0} wait{<0:a0.0@0} F0 B0 post{<0:a1.0@0 >0:g0.1@0} "
      "wait{<0:a1.0@0} F1 wait{>0:g0.1@0} B1 post{<0:a2.0@0 >0:g1.1@0} "
      "wait{<0:a2.0@0} F2 wait{>0:g1.1@0} B2 post{>0:g2.1@0} "
      "wait{>0:g2.1@0}\n");
}

// Stage 0 runs its first chunk on all of a group before it reads what stage 1
// has made of the first.
TEST(Expand, HasAsManyOnTheirWayAsAGroupHas) {
  Plan plan = makePlan(make("interleaved-1f1b", {2, 160, 2, 150}), 1,
                       Grouping::SameStamp, /*apart=*/true);
  EXPECT_TRUE(verifyMachine(machineOf(plan)).empty());
}

// F3 writes where nobody has sent from for longest: a2 may still be on its way.
TEST(Expand, WritesTheBufferThatIsFreeForLongest) {
  Plan plan = makePlan(make("1f1b", {2, 4, 1, 0}), 1, Grouping::SameStamp,
                       /*apart=*/true);
  EXPECT_NE(printProgram(plan, 0).find("wait{>1:a1.0@1} F3 post{>1:a3.0@1"),
            std::string::npos)
      << printProgram(plan, 0);
}

// A value that is made early and read late is received in its turn all the
// same: those behind it in the channel are read before it.
TEST(Expand, PostsAChannelInTheOrderInWhichItsValuesAreMade) {
  Findings findings;
  Schedule schedule =
      parseSchedule("F0 F1 F2\nF2 F1 F0\n", {2, 3, 1, {}}, findings);
  EXPECT_EQ(printProgram(makePlan(schedule, 1, Grouping::SameStamp, true), 1),
            "post{<0:a0.0@2 <0:a1.0@1 <0:a2.0@0} wait{<0:a2.0@0} F2 "
            "wait{<0:a1.0@1} F1 wait{<0:a0.0@2} F0");
}

TEST(Expand, CostsNeverMatterForCorrectness) {
  for (const Setting &setting : settings(3, 4, 2))
    for (Costs costs : {Costs{9, 1, 1, 7}, {1, 50, 3, 1}}) {
      SCOPED_TRACE(nameOf(setting));
      ExpandOptions options;
      options.costs = costs;
      Findings findings;
      auto plan = expand(make(setting.name, setting.params), options, findings);
      ASSERT_TRUE(plan) << render(findings);
      EXPECT_EQ(render(checkPlan(*plan)), "");
      EXPECT_EQ(interpret(*plan).error, "");
    }
}

TEST(Expand, RejectsWhatTheCheckRejects) {
  Findings findings;
  Schedule schedule =
      parseSchedule("F0 B0 F1 B1\nF0 F1 B0 B1\n", {2, 2, 1, {}}, findings);
  ExpandOptions options;
  options.depth = 0;
  options.costs.F = 0;
  EXPECT_FALSE(expand(schedule, options, findings));
  EXPECT_TRUE(hasCode(findings, "cycle"));
  EXPECT_EQ(findings.size(), 3u) << render(findings);
}

} // namespace
} // namespace mtc::schedules::test
