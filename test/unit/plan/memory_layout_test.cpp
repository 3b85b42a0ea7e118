//===- memory_layout_test.cpp - placing temporaries -----------------------===//
#include "passes/plan/MemoryLayout.h"

#include <gtest/gtest.h>

#include <random>

using namespace mtc::passes;

namespace {

bool overlapInTime(const Lifetime &a, const Lifetime &b) {
  return a.begin <= b.end && b.begin <= a.end;
}
bool overlapInSpace(const Lifetime &a, const Lifetime &b) {
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

TEST(PlaceTemporaries, ValuesThatNeverMeetShareMemory) {
  std::vector<Lifetime> values = {{100, 0, 1, -1}, {100, 2, 3, -1}};
  EXPECT_EQ(placeTemporaries(values), 100);
  EXPECT_EQ(values[0].offset, values[1].offset);
}

// A value that is read where another is written must not share its place.
TEST(PlaceTemporaries, TouchingLifetimesDoNotShare) {
  std::vector<Lifetime> values = {{100, 0, 1, -1}, {100, 1, 2, -1}};
  EXPECT_EQ(placeTemporaries(values), 228); // 128 is the next multiple of 64
  EXPECT_FALSE(overlapInSpace(values[0], values[1]));
}

TEST(PlaceTemporaries, RandomLifetimesNeverOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> values;
    for (int i = 0; i < 40; ++i) {
      int64_t begin = random() % 30;
      values.push_back({1 + int64_t(random() % 5000), begin,
                        begin + int64_t(random() % 10), -1});
    }
    int64_t total = placeTemporaries(values);
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(values[i].offset % kAlign, 0);
      EXPECT_LE(values[i].offset + values[i].bytes, total);
      for (size_t j = 0; j < i; ++j)
        if (overlapInTime(values[i], values[j])) {
          ASSERT_FALSE(overlapInSpace(values[i], values[j]))
              << "round " << round;
        }
    }
  }
}

} // namespace
