//===- profile_test.cpp - how long ops take -------------------------------===//

#include "runtime/program/profile.h"
#include "runtime/train/profile_file.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <thread>

namespace mtc::runtime {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

MtcStep rowOf(int32_t fragment) {
  MtcStep row{};
  row.kind = MTC_STEP_RUN;
  row.fragment = fragment;
  return row;
}

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

/// Ops 0 and 1 of a fragment, of which the first takes at least 2 ms.
void runOnce(RankProfile &profile, const MtcStep &row) {
  profile.opBegins(row, 0);
  rest();
  profile.opBegins(row, 1);
  profile.opBegins(row, -1);
  rest(); // in nobody's time
}

TEST(RankProfile, AnOpLastsUntilTheNextOne) {
  RankProfile profile;
  MtcStep row = rowOf(1);
  runOnce(profile, row);
  runOnce(profile, row);
  ASSERT_EQ(profile.ops.size(), 2U);
  EXPECT_TRUE(profile.ops[0].empty());
  ASSERT_EQ(profile.ops[1].size(), 2U);
  EXPECT_EQ(profile.ops[1][0].calls, 2);
  EXPECT_GE(profile.ops[1][0].nanoseconds, 4 * kMillisecond);
  EXPECT_EQ(profile.ops[1][1].calls, 2);
  EXPECT_LT(profile.ops[1][1].nanoseconds, 2 * kMillisecond);
}

TEST(RankProfile, CollectivesBesideBelongToTheOpThatIssuedThem) {
  RankProfile profile;
  MtcStep row = rowOf(0);
  profile.opBegins(row, 0);
  profile.opBegins(row, 1);
  profile.issued();
  profile.opBegins(row, -1);
  profile.commTimes.push_back({10, 17});
  profile.stepEnds(0.5);
  EXPECT_EQ(profile.ops[0][0].beside, 0);
  EXPECT_EQ(profile.ops[0][1].beside, 7);
  EXPECT_TRUE(profile.commTimes.empty());
}

TEST(RankProfile, ForgetsTheWarmUp) {
  RankProfile profile;
  runOnce(profile, rowOf(0));
  profile.rowEnds(rowOf(0), {0, 5});
  profile.stepEnds(1);
  profile.clear();
  EXPECT_EQ(profile.ops[0][0].calls, 0);
  EXPECT_EQ(profile.fragments[0].nanoseconds, 0);
  EXPECT_EQ(profile.rows[MTC_STEP_RUN].calls, 0);
  EXPECT_TRUE(profile.seconds.empty());
}

TEST(RankProfile, IsReadAsItWasWritten) {
  RankProfile profile, found;
  runOnce(profile, rowOf(1));
  profile.rowEnds(rowOf(1), {3, 5});
  profile.stepEnds(0.25);
  test::TemporaryFolder folder;
  std::string path = folder.path("profile.json");
  ASSERT_TRUE(writeProfile(path, profile).ok());
  Status status = readProfile(path, found);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(found.seconds, profile.seconds);
  EXPECT_EQ(found.fragments[1].nanoseconds, 2);
  EXPECT_EQ(found.rows[MTC_STEP_RUN].calls, 1);
  EXPECT_EQ(found.ops[1][0].nanoseconds, profile.ops[1][0].nanoseconds);
}

} // namespace
} // namespace mtc::runtime
