//===- svg_test.cpp - schedules as pictures -------------------------------===//
//
// That the file is XML, and that its boxes lie where slots do, is tested by
// test/integration/test_schedules.py.
//
//===----------------------------------------------------------------------===//

#include "oracle.h"
#include "passes/pipeline/schedules/svg.h"

#include <gtest/gtest.h>

namespace mtc::schedules::test {
namespace {

size_t count(const std::string &text, const std::string &words) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(words, at)) != text.npos; ++at)
    ++found;
  return found;
}

std::string drawn(const Schedule &schedule, const Costs &costs = {}) {
  return drawSvg(schedule, costs, figuresOf(schedule, costs, 0), "a & <b>");
}

TEST(Svg, HasABoxPerSlotAndNumbersOfMicrobatches) {
  std::string text = drawn(make("zb-h1", {3, 4, 1, 0}));
  for (const char *phase : {"F", "I", "W"})
    EXPECT_EQ(count(text, std::string("class=\"slot ") + phase), 12u);
  EXPECT_EQ(count(text, "class=\"slot B"), 0u);
  EXPECT_EQ(count(text, ">3</text>"), 9u);
  EXPECT_EQ(count(text, "input gradient</text>"), 1u); // the legend
  EXPECT_EQ(count(text, "backward</text>"), 0u);
}

TEST(Svg, ShadesChunks) {
  std::string text = drawn(make("interleaved-1f1b", {3, 6, 2, 3}));
  EXPECT_EQ(count(text, "class=\"slot"), 72u);
  EXPECT_EQ(count(text, "class=\"slot F\" fill=\"#2f68b5\""), 18u);
  EXPECT_EQ(count(text, ">chunk 1</text>"), 1u);
  EXPECT_EQ(count(drawn(make("1f1b", {3, 6, 1, 0})), ">chunk"), 0u);
}

TEST(Svg, ShowsThePartsThatStagesHave) {
  std::string text = drawn(make("1f1b", {3, 4, 1, 0}));
  // The last stage has neither; one of each is the legend's.
  EXPECT_EQ(count(text, "<rect class=\"warm-up\""), 2u + 1);
  EXPECT_EQ(count(text, "<rect class=\"steady\""), 3u + 1);
  EXPECT_EQ(count(text, "<rect class=\"cool-down\""), 2u + 1);
}

TEST(Svg, EscapesItsTitle) {
  std::string text = drawn(make("1f1b", {1, 1, 1, 0}));
  EXPECT_EQ(count(text, "a &amp; &lt;b&gt;"), 2u);
  EXPECT_EQ(count(text, "<b>"), 0u);
}

// Millions of units of time are no wider than a picture may be.
TEST(Svg, HugeTimesMakeNoHugePicture) {
  std::string text = drawn(make("1f1b", {2, 2, 1, 0}), {1, 1000000000, 1, 1});
  EXPECT_EQ(count(text, "class=\"slot"), 8u);
  EXPECT_LT(text.size(), 60000u);
}

} // namespace
} // namespace mtc::schedules::test
