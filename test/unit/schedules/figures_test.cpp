//===- figures_test.cpp - parts of a schedule, what it costs and holds ----===//

#include "oracle.h"
#include "passes/pipeline/schedules/figures.h"

#include <gtest/gtest.h>

namespace mtc::schedules::test {
namespace {

/// "3+13" per stage: slots of the warm-up, and of the steady state.
std::string partsOf(const Schedule &schedule) {
  std::string text;
  for (int stage = 0; stage < schedule.stages; ++stage) {
    Sections parts = sectionsOf(schedule, stage);
    text += (stage ? " " : "") + std::to_string(parts.steady) + "+" +
            std::to_string(parts.coolDown - parts.steady);
  }
  return text;
}

// Counted by hand in test/golden/schedules/by_hand.txt.
TEST(Sections, OfTheSchedulesWrittenByHand) {
  EXPECT_EQ(partsOf(make("gpipe", {3, 4, 1, 0})), "4+0 4+0 4+0");
  EXPECT_EQ(partsOf(make("1f1b", {3, 4, 1, 0})), "2+4 1+6 0+8");
  EXPECT_EQ(partsOf(make("eager-1f1b", {3, 6, 1, 0})), "4+4 2+8 0+12");
  EXPECT_EQ(partsOf(make("interleaved-1f1b", {3, 6, 2, 3})), "7+10 5+14 3+18");
  EXPECT_EQ(partsOf(make("zb-h1", {3, 4, 1, 0})), "2+6 1+8 0+12");
  EXPECT_EQ(partsOf(make("forward-only", {3, 4, 1, 0})), "4+0 4+0 4+0");
}

// A formula says that the last of as many forwards as there are is paired with
// the first backward; a list does not.
TEST(Sections, OfAListCannotTellThatTheLastForwardIsPaired) {
  Schedule schedule = make("1f1b", {4, 4, 1, 0});
  EXPECT_EQ(partsOf(schedule), "3+2 2+4 1+6 0+8");
  schedule.name = "";
  EXPECT_EQ(partsOf(schedule), "4+0 2+4 1+6 0+8");
}

TEST(Sections, OfListsAreThoseOfFormulasElsewhere) {
  int same = 0;
  for (const Setting &setting : settings(4, 6, 3)) {
    Schedule schedule = make(setting.name, setting.params);
    int all = setting.params.m * setting.params.v;
    for (int stage = 0; stage < schedule.stages; ++stage) {
      Sections named = sectionsOf(schedule, stage);
      Schedule user = schedule;
      user.name = "";
      Sections found = sectionsOf(user, stage);
      bool isPairedLast = static_cast<int>(named.steady) == all - 1;
      EXPECT_EQ(found.steady, isPairedLast ? named.steady + 1 : named.steady)
          << nameOf(setting) << " stage " << stage;
      same += !isPairedLast;
    }
  }
  EXPECT_GT(same, 100);
}

TEST(Sections, TakeTurnsInTheMiddleAlone) {
  for (const Setting &setting : settings(4, 6, 3)) {
    Schedule schedule = make(setting.name, setting.params);
    for (int stage = 0; stage < schedule.stages; ++stage) {
      const std::vector<Slot> &line = schedule.slots[stage];
      Sections parts = sectionsOf(schedule, stage);
      int forwards = 0, backwards = 0;
      for (size_t i = 0; i < line.size(); ++i) {
        bool isForward = line[i].phase == Phase::F;
        EXPECT_TRUE(i >= parts.steady || isForward) << nameOf(setting);
        EXPECT_TRUE(i < parts.coolDown || !isForward) << nameOf(setting);
        if (i < parts.steady || i >= parts.coolDown)
          continue;
        forwards += isForward;
        backwards += roleOf(line[i].phase) == Role::Backward;
      }
      EXPECT_EQ(forwards, backwards) << nameOf(setting) << " stage " << stage;
    }
  }
}

TEST(Figures, AreBesideTheirClosedForms) {
  for (const Setting &setting : settings(4, 8, 3)) {
    Figures figures =
        figuresOf(make(setting.name, setting.params), Costs{2, 4, 2, 2}, 0);
    ASSERT_NE(figures.generator, nullptr);
    if (figures.bubbleForm) {
      EXPECT_EQ(figures.bubble, *figures.bubbleForm) << nameOf(setting);
    }
    for (const StageFigures &stage : figures.stages)
      EXPECT_EQ(stage.inFlight, stage.inFlightForm) << nameOf(setting);
  }
}

TEST(Figures, OfAnOwnScheduleHaveNone) {
  Schedule schedule = make("zb-h1", {3, 4, 1, 0});
  schedule.name = "";
  Figures figures = figuresOf(schedule, Costs{}, 0);
  EXPECT_EQ(figures.generator, nullptr);
  EXPECT_FALSE(figures.bubbleForm);
  EXPECT_FALSE(figures.stages[0].inFlightForm);
  // (p-1)(F+I) - (p-1): 2 · 2 - 2.
  EXPECT_EQ(figures.bubble, 2);
  EXPECT_EQ(figures.makespan, 14);
  // Stage r puts weight gradients off by r microbatches.
  for (int stage = 0; stage < 3; ++stage) {
    EXPECT_EQ(figures.stages[stage].inFlight, 3 - stage);
    EXPECT_EQ(figures.stages[stage].waiting, stage + 1);
    EXPECT_EQ(figures.stages[stage].busy, 12);
  }
}

} // namespace
} // namespace mtc::schedules::test
