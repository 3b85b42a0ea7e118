//===- period_test.cpp - rows of a timeline that repeat -------------------===//

#include "compiler/period.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>
#include <vector>

namespace mtc::compiler::test {
namespace {

using runtime::PeriodInfo;

MtcStep run(int fragment, int microbatch, int slots) {
  return {MTC_STEP_RUN, fragment, microbatch, 0, slots, 0, 0, 0};
}
MtcStep load(int microbatch, int slots) {
  return {MTC_STEP_LOAD, -1, microbatch, 0, slots, 0, 0, 0};
}
MtcStep exchange(int first, int count) {
  return {MTC_STEP_EXCHANGE, -1, -1, 0, -1, first, count, 0};
}

/// 1F1B of the stage that has `flight` microbatches in flight, in as many
/// slots; the last rows are marked as the compiler marks them.
std::vector<MtcStep> oneForwardOneBackward(int microbatches, int flight) {
  std::vector<MtcStep> rows;
  auto forward = [&](int k) {
    rows.push_back(load(k, k % flight));
    rows.push_back(run(0, k, k % flight));
  };
  auto backward = [&](int k) { rows.push_back(run(1, k, k % flight)); };
  for (int k = 0; k < flight - 1; ++k)
    forward(k);
  for (int k = flight - 1; k < microbatches; ++k) {
    forward(k);
    backward(k - flight + 1);
  }
  for (int k = microbatches - flight + 1; k < microbatches; ++k)
    backward(k);
  rows.push_back(run(2, -1, -1));
  rows[rows.size() - 2].last = 1;
  return rows;
}

/// All of a row but its microbatch.
auto workOf(const MtcStep &row) {
  return std::tuple(row.kind, row.fragment, row.chunk, row.slots, row.first,
                    row.count, row.last);
}

/// By the words of EntryInfo::period.
void expectRepeats(const std::vector<MtcStep> &rows, const PeriodInfo &p) {
  ASSERT_GT(p.first, 0);
  ASSERT_GE(p.times, 2);
  ASSERT_LE(p.end(), std::ssize(rows));
  for (int64_t i = p.first; i + p.rows < p.end(); ++i) {
    EXPECT_EQ(workOf(rows[i]), workOf(rows[i + p.rows])) << i;
    EXPECT_GT(rows[i].microbatch, 0) << i;
    EXPECT_EQ(rows[i + p.rows].microbatch - rows[i].microbatch, p.microbatches)
        << i;
  }
}

TEST(Period, OfSteadyStates) {
  for (int flight = 1; flight <= 6; ++flight)
    for (int microbatches = 4 * flight; microbatches < 60; microbatches += 7) {
      std::vector<MtcStep> rows = oneForwardOneBackward(microbatches, flight);
      std::optional<PeriodInfo> found = findPeriod(rows, {});
      ASSERT_TRUE(found) << flight << ", " << microbatches;
      expectRepeats(rows, *found);
      // Slots come again after as many microbatches, with 3 rows each. What is
      // in no repeat is a warm-up, a cool-down, and less than a repeat each.
      EXPECT_EQ(found->microbatches, flight);
      EXPECT_EQ(found->rows, 3 * flight);
      EXPECT_GE(found->times, microbatches / flight - 3);
    }
}

TEST(Period, IsNotOfTheFirstMicrobatchNorOfTheLastRows) {
  std::vector<MtcStep> rows = oneForwardOneBackward(10, 1);
  std::optional<PeriodInfo> found = findPeriod(rows, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first, 3); // behind microbatch 0
  EXPECT_EQ(found->times, 8); // the last backward is marked
}

TEST(Period, IsTheOneThatCoversMost) {
  // Two microbatches of a chunk, then as many of the other, in one slot.
  std::vector<MtcStep> rows{run(2, 0, 0)};
  for (int group = 0; group < 10; ++group)
    for (int chunk = 0; chunk < 2; ++chunk)
      for (int k = 1; k <= 2; ++k)
        rows.push_back(run(chunk, 2 * group + k, 0));
  std::optional<PeriodInfo> found = findPeriod(rows, {});
  ASSERT_TRUE(found);
  expectRepeats(rows, *found);
  EXPECT_EQ(found->rows, 4);
  EXPECT_EQ(found->times, 10);
  EXPECT_EQ(found->microbatches, 2);
}

TEST(Period, NeedsTwoRepeats) {
  EXPECT_FALSE(findPeriod({}, {}));
  EXPECT_FALSE(findPeriod(oneForwardOneBackward(2, 1), {}));
  EXPECT_FALSE(findPeriod(oneForwardOneBackward(6, 6), {}));
}

TEST(Period, TransfersAreTheSameButForTheirTags) {
  std::vector<MtcStep> rows;
  std::vector<MtcTransfer> transfers;
  for (int k = 0; k < 12; ++k) {
    transfers.push_back({0, 1, MTC_ARENA_ACTIVATIONS, k, 64, 256});
    rows.push_back(exchange(k, 1));
    rows.push_back(run(0, k, 0));
  }
  std::optional<PeriodInfo> found = findPeriod(rows, transfers);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rows, 2);
  EXPECT_EQ(found->times, 11); // rows of microbatch 0 are in none
  for (auto change : {+[](MtcTransfer &t) { t.offset += 256; },
                      +[](MtcTransfer &t) { t.bytes -= 4; },
                      +[](MtcTransfer &t) { t.peer_stage = 0; },
                      +[](MtcTransfer &t) { t.is_send = 1; }}) {
    std::vector<MtcTransfer> others = transfers;
    change(others[9]);
    found = findPeriod(rows, others);
    ASSERT_TRUE(found);
    EXPECT_LE(found->end(), 18);
  }
}

/// Any rows: what is found is a period by the words of EntryInfo.
TEST(Period, OfRandomRows) {
  std::mt19937 random(7);
  int found = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<MtcStep> rows;
    int microbatch = 0, length = 1 + int(random() % 4);
    std::vector<int> fragments, slots;
    for (int i = 0; i < length; ++i) {
      fragments.push_back(int(random() % 3));
      slots.push_back(int(random() % 2));
    }
    for (int i = 0; i < 40; ++i) {
      bool odd = random() % 30 == 0;
      rows.push_back(
          run(odd ? 5 : fragments[i % length], microbatch, slots[i % length]));
      microbatch += random() % 40 == 0 ? 2 : i % length == length - 1;
    }
    if (std::optional<PeriodInfo> period = findPeriod(rows, {})) {
      ++found;
      expectRepeats(rows, *period);
    }
  }
  EXPECT_GT(found, 500);
}

} // namespace
} // namespace mtc::compiler::test
