#include "runtime/kernels/cpu/team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

namespace mtc::runtime {
namespace {

TEST(Team, PartsCoverARangeInOrder) {
  for (int64_t count : {0, 1, 7, 64, 1000})
    for (int64_t parts : {1, 2, 3, 8})
      for (int64_t unit : {1, 16, 64}) {
        int64_t end = 0;
        for (int64_t i = 0; i < parts; ++i) {
          Part part = partOf(count, i, parts, unit);
          EXPECT_EQ(part.begin, end);
          EXPECT_LE(part.begin, part.end);
          EXPECT_TRUE(part.begin % unit == 0 || part.begin == count);
          end = part.end;
        }
        EXPECT_EQ(end, count);
      }
}

TEST(Team, EveryPartRunsOnceOnAThreadOfItsOwn) {
  for (int64_t threads : {1, 2, 3, 5}) {
    std::mutex mutex;
    std::set<int64_t> ran;
    std::set<std::thread::id> by;
    onTeam(threads, [&](int64_t part, int64_t parts) {
      std::lock_guard lock(mutex);
      EXPECT_EQ(parts, threads);
      EXPECT_TRUE(ran.insert(part).second);
      EXPECT_TRUE(by.insert(std::this_thread::get_id()).second);
    });
    EXPECT_EQ(int64_t(ran.size()), threads);
  }
}

TEST(Team, NobodyPassesAMeetingBeforeTheLastComes) {
  constexpr int kRounds = 200;
  std::atomic<int> came = 0, early = 0;
  onTeam(3, [&](int64_t, int64_t parts) {
    for (int round = 1; round <= kRounds; ++round) {
      ++came;
      teamMeets();
      early += came < round * parts;
      teamMeets();
    }
  });
  EXPECT_EQ(early, 0);
}

TEST(Team, NothingRunsAfterAnError) {
  MtcContext context = {};
  context.threads = 2;
  std::atomic<int> ran = 0;
  auto count = [](void *argument, int64_t, int64_t) {
    ++*static_cast<std::atomic<int> *>(argument);
  };
  mtc_parallel(&context, count, &ran);
  EXPECT_EQ(ran, 2);
  context.status = 1;
  mtc_parallel(&context, count, &ran);
  EXPECT_EQ(ran, 2);
}

} // namespace
} // namespace mtc::runtime
