//===- schedule_file_test.cpp - schedules that people write ---------------===//

#include "passes/pipeline/schedules/check.h"
#include "passes/pipeline/schedules/schedule_file.h"

#include <gtest/gtest.h>

namespace mtc::schedules::test {
namespace {

/// All findings for `text`; expects that nothing is returned beside them.
std::string wrong(std::string_view text, const GivenSizes &given = {}) {
  Findings findings;
  bool isRead = readScheduleText(text, findings, given).has_value();
  EXPECT_EQ(isRead, findings.empty());
  return render(findings);
}

TEST(ScheduleFile, SizesAreReadOffTheSlots) {
  Findings findings;
  auto schedule = readScheduleText(
      "# two stages\n\n"
      "F0.0\tF1.0  F2.0 F0.1 F1.1 F2.1 # behind slots as well\r\n"
      "  F0.0 F0.1 F1.1\n",
      findings);
  ASSERT_TRUE(schedule) << render(findings);
  EXPECT_EQ(schedule->stages, 2);
  EXPECT_EQ(schedule->microbatches, 3);
  EXPECT_EQ(schedule->chunks, 2);
  EXPECT_EQ(printSchedule(*schedule),
            "F0.0 F1.0 F2.0 F0.1 F1.1 F2.1\nF0.0 F0.1 F1.1\n");
}

TEST(ScheduleFile, GivenSizesCount) {
  std::string text = "F0 F1 B0 B1\nF0 B0 F1 B1\n";
  EXPECT_EQ(wrong(text, {2, 3, 1}),
            "range: line 1: expected at least 6 slots on each stage "
            "(microbatches 3, chunks 1, forward and backward), found at most "
            "4\n");
  Findings findings;
  auto schedule = readScheduleText("F0 F1\nF0 F1\n", findings, {2, 2, 1});
  ASSERT_TRUE(schedule) << render(findings);
  EXPECT_EQ(schedule->microbatches, 2);
  EXPECT_EQ(wrong("F0 F1\nF0 F1\n", {2, 3, 1}),
            "range: line 1: expected at least 3 slots on each stage "
            "(microbatches 3, chunks 1), found at most 2\n");
  EXPECT_EQ(wrong(text, {3, 2, 1}),
            "timeline-count: line 2: expected 3 lines of slots, one per stage, "
            "found 2\n");
  EXPECT_EQ(wrong(text, {2, 1, 1}),
            "range: line 1: stage 0 slot 1: F1: expected a microbatch of 0 to "
            "0 (2 such slots in the line)\n"
            "range: line 2: stage 1 slot 2: F1: expected a microbatch of 0 to "
            "0 (2 such slots in the line)\n");
}

TEST(ScheduleFile, FindingsHaveTheLineOfTheFile) {
  EXPECT_EQ(wrong("# nothing\n\nF0 X0 B0\n\nF0 B\n"),
            "phase: line 3: stage 0 slot 1: found 'X0', expected a phase of F, "
            "B, I, W, a microbatch, and optionally . and a chunk, like F3 or "
            "F3.1\n"
            "syntax: line 5: stage 1 slot 1: found 'B', expected a phase of F, "
            "B, I, W, a microbatch, and optionally . and a chunk, like F3 or "
            "F3.1\n");
  EXPECT_EQ(wrong("# nothing\n"),
            "timeline-count: line 1: expected one line of slots per stage, "
            "such as F0 F1 B0 B1, found none\n");
}

TEST(ScheduleFile, ALineOfNoiseIsTwoFindings) {
  EXPECT_EQ(wrong("F0 x B y F1 z W I\n"),
            "phase: line 1: stage 0 slot 1: found 'x', expected a phase of F, "
            "B, I, W, a microbatch, and optionally . and a chunk, like F3 or "
            "F3.1 (3 such words in the line)\n"
            "syntax: line 1: stage 0 slot 1: found 'B', expected a phase of F, "
            "B, I, W, a microbatch, and optionally . and a chunk, like F3 or "
            "F3.1 (3 such words in the line)\n");
}

TEST(ScheduleFile, LongWordsAreCut) {
  EXPECT_LT(wrong(std::string(100000, 'x')).size(), 200u);
}

// Sizes that no line has room for are found before anything is made of them.
TEST(ScheduleFile, HugeNumbersAreOutOfRange) {
  EXPECT_EQ(wrong("F0 B0\nF0 F2147483647\n"),
            "range: line 2: stage 1 slot 1: F2147483647: expected a microbatch "
            "of 0 to 1, as no line has more slots\n");
  EXPECT_EQ(wrong("F0.7 B0\n"),
            "range: line 1: stage 0 slot 0: F0.7: expected a chunk of 0 to 1, "
            "as no line has more slots\n");
  EXPECT_EQ(wrong("F0.0 F3.0 F0.3 B0.0\n"),
            "range: line 1: expected at least 32 slots on each stage "
            "(microbatches 4, chunks 4, forward and backward), found at most "
            "4\n");
  EXPECT_EQ(wrong("F0 B0\n", {1, 2147483647, 2147483647}),
            "range: line 1: expected at least 9223372028264841218 slots on "
            "each stage (microbatches 2147483647, chunks 2147483647, forward "
            "and backward), found at most 2\n");
}

} // namespace
} // namespace mtc::schedules::test
