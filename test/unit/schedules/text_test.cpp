//===- text_test.cpp - reading, printing and drawing schedules ------------===//

#include "oracle.h"
#include "passes/pipeline/schedules/check.h"
#include "passes/pipeline/schedules/draw.h"
#include "sha256.h"

#include <gtest/gtest.h>

namespace mtc::schedules::test {
namespace {

TEST(ScheduleText, PrintsWhatItRead) {
  std::string text = "F0.0 F0.1 B0.1 B0.0\nF0.0 F0.1 I0.1 W0.1 B0.0\n";
  Findings findings;
  Schedule schedule =
      parseSchedule("# chunks\n\n" + text, {2, 1, 2, {}}, findings);
  EXPECT_EQ(render(findings), "");
  EXPECT_EQ(printSchedule(schedule), text);
}

TEST(ScheduleText, ReportsWordsThatAreNoSlots) {
  for (std::string word : {"X0", "F-1", "F", "F1.", "F1.2x", "F99999999999"}) {
    Findings findings;
    Schedule schedule =
        parseSchedule("F0 " + word + " B0", {1, 1, 1, {}}, findings);
    ASSERT_EQ(findings.size(), 1u) << render(findings);
    EXPECT_EQ(findings[0].code, word == "X0" ? "phase" : "syntax");
    EXPECT_EQ(printSlots(schedule.slots[0], 1), "F0 B0");
  }
}

TEST(ScheduleText, CheckerRejectsAPhaseOutsideTheFour) {
  Schedule schedule = make("gpipe", {1, 1, 1, 0});
  schedule.slots[0].push_back({static_cast<Phase>(9), 0, 0});
  EXPECT_TRUE(hasCode(checkSchedule(schedule), "phase"));
}

TEST(Placement, InversesAgree) {
  for (Placement placement : {Placement::Straight, Placement::Folded}) {
    Shape shape{4, 1, 3, placement};
    for (int u = 0; u < shape.virtualStages(); ++u)
      EXPECT_EQ(shape.virtualStage(shape.stageOf(u), shape.chunkOf(u)), u);
  }
  EXPECT_EQ((Shape{4, 1, 3, Placement::Straight}.stageOf(4)), 0);
  EXPECT_EQ((Shape{4, 1, 3, Placement::Folded}.stageOf(4)), 3);
}

TEST(Draw, ShowsSlotsOverTime) {
  EXPECT_EQ(draw(make("1f1b", {2, 2, 1, 0}), Costs{}),
            "stage  0 | F0 F1 .  .  B0 -  .  B1 -\n"
            "stage  1 | .  F0 B0 -  F1 B1 -  .  .\n"
            "makespan 9, bubble 3 (33.3 %)\n");
}

TEST(Draw, ShowsWhereItStops) {
  Findings findings;
  Schedule schedule =
      parseSchedule("F0 B0 F1 B1\nF0 F1 B0 B1\n", {2, 2, 1, {}}, findings);
  EXPECT_EQ(draw(schedule, Costs{}), "stage  0 | F0 .  !B0\n"
                                     "stage  1 | .  F0 !F1\n"
                                     "cannot go on\n");
}

TEST(Draw, PartsAreUnderTimesInTheColumnOfAllCosts) {
  // F 2 and B 4 make columns of 2; | stands before F1 of the steady state.
  EXPECT_EQ(drawParts(make("1f1b", {2, 3, 1, 0}), Costs{2, 4, 1, 1}),
            "time     | 0              10             20\n"
            "stage  0 | F0|F1 .  .  B0 -  F2 B1 -  . |B2 -\n"
            "stage  1 | .  F0 B0 -  F1 B1 -  F2 B2 -  .  .\n");
  EXPECT_EQ(columnTime(make("1f1b", {2, 3, 1, 0}), Costs{2, 4, 1, 1}, 5), 1);
}

// The test vector of FIPS 180-2, appendix B.1.
TEST(Sha256, KnownAnswer) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb41"
                           "0ff61f20015ad");
}

} // namespace
} // namespace mtc::schedules::test
