//===- check_test.cpp - schedules that must be rejected
//--------------------===//

#include "oracle.h"
#include "passes/pipeline/schedules/check.h"

#include <gtest/gtest.h>
#include <set>

namespace mtc::schedules::test {
namespace {

TEST(CheckSchedule, GoldenNegatives) {
  std::set<std::string> seen;
  for (const Json &item : loadCases("negative_schedules")) {
    SCOPED_TRACE(nameOf(item));
    Findings findings = checkSchedule(userSchedule(item));
    std::set<std::string> expected = item["codes"];
    expected.erase("parameters"); // of the generator, tested there
    EXPECT_EQ(codesOf(findings), expected) << render(findings);
    seen.merge(std::set<std::string>(expected));
    if (!item.contains("text"))
      continue;
    for (const std::string text : item["text"])
      EXPECT_NE(render(findings).find(text), std::string::npos)
          << text << "\n"
          << render(findings);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"timeline-count", "range", "missing",
                                         "duplicate", "phase-mix", "order",
                                         "accumulation-order", "cycle"}));
}

TEST(CheckSchedule, GoldenRings) {
  int rings = 0;
  for (const Json &item : loadCases("negative_schedules")) {
    if (!item.contains("cycle"))
      continue;
    SCOPED_TRACE(nameOf(item));
    ++rings;
    Schedule schedule = userSchedule(item);
    EXPECT_EQ(Json(waitForCycle(schedule, asap(schedule, Costs{}))),
              item["cycle"]);
  }
  EXPECT_EQ(rings, 9);
}

TEST(CheckSchedule, StagesMayChooseTheirBackward) {
  Findings findings;
  Schedule mixed = parseSchedule("F0 I0 W0 F1 B1\nF0 B0 F1 I1 W1\n",
                                 {2, 2, 1, {}}, findings);
  EXPECT_EQ(render(checkSchedule(mixed)), "");
}

TEST(CheckSchedule, ForwardOnlyNeedsNoBackward) {
  Findings findings;
  Schedule schedule = parseSchedule("F1 F0\nF1 F0\n", {2, 2, 1, {}}, findings);
  EXPECT_EQ(render(checkSchedule(schedule)), "");
}

} // namespace
} // namespace mtc::schedules::test
