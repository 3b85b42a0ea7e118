//===- failures_test.cpp - an error everywhere, never a hang --------------===//

#include "values.h"
#include "worlds.h"

#include <chrono>
#include <thread>

using namespace mtc;
using namespace mtc::test;
using runtime::Status;
using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;

namespace {

constexpr int64_t kArena = 1 << 20;

AssertionResult contains(const std::string &text,
                         const std::vector<std::string> &parts) {
  for (const std::string &part : parts)
    if (text.find(part) == std::string::npos)
      return AssertionFailure() << "'" << text << "' lacks '" << part << "'";
  return AssertionSuccess();
}

class Failures : public ::testing::TestWithParam<Backend> {
protected:
  /// Each rank's text is "14 ..." and has all of `parts`.
  void expectDisagreement(runtime::Mesh mesh, const Body &body,
                          const std::vector<std::string> &parts) {
    for (const std::string &found : runWorld(GetParam(), mesh, kArena, body)) {
      EXPECT_EQ(found.substr(0, 3), "14 ") << found;
      EXPECT_TRUE(contains(found, parts));
    }
  }
};

TEST_P(Failures, DifferentCounts) {
  // Below and above the size that goes through the slots.
  for (int64_t count : {int64_t(8), int64_t(50000)})
    expectDisagreement(
        {3, 1, 1},
        [&](Rank &r) {
          int64_t mine = count + (r.rank == 2);
          return text(r.comm.allReduce(MTC_GROUP_TP, MTC_SUM, MTC_F32,
                                       r.arena(MTC_ARENA_GRADS), mine));
        },
        {"rank 0 calls all-reduce sum f32 of " + std::to_string(count) + " ",
         "rank 2 calls all-reduce sum f32 of " + std::to_string(count + 1)});
}

TEST_P(Failures, OneSmallOneLarge) {
  expectDisagreement(
      {2, 1, 1},
      [](Rank &r) {
        return text(r.comm.allReduce(MTC_GROUP_TP, MTC_SUM, MTC_F32,
                                     r.arena(MTC_ARENA_GRADS),
                                     r.rank ? 8 : 50000));
      },
      {"rank 0 calls", "50000", "rank 1 calls", "of 8 elements"});
}

TEST_P(Failures, DifferentDtypes) {
  expectDisagreement(
      {2, 1, 1},
      [](Rank &r) {
        return text(r.comm.allGather(MTC_GROUP_TP, r.rank ? MTC_I32 : MTC_F32,
                                     r.arena(MTC_ARENA_GRADS), 8));
      },
      {"rank 0 calls all-gather f32", "rank 1 calls all-gather i32"});
}

TEST_P(Failures, DifferentReductions) {
  expectDisagreement(
      {2, 1, 1},
      [](Rank &r) {
        return text(r.comm.allReduce(MTC_GROUP_TP, r.rank ? MTC_MAX : MTC_SUM,
                                     MTC_F32, r.arena(MTC_ARENA_GRADS), 8));
      },
      {"rank 0 calls all-reduce sum", "rank 1 calls all-reduce max"});
}

TEST_P(Failures, DifferentOperations) {
  expectDisagreement(
      {1, 2, 1},
      [](Rank &r) {
        MTC_EXPECT_OK(r.comm.barrier());
        return text(r.rank ? r.comm.barrier()
                           : r.comm.allReduce(MTC_GROUP_ALL, MTC_SUM, MTC_F32,
                                              r.arena(MTC_ARENA_GRADS), 8));
      },
      {"group all", "rank 0 calls all-reduce", "rank 1 calls barrier",
       "(call 2)"});
}

TEST_P(Failures, TagMismatchReachesBothSides) {
  expectDisagreement(
      {1, 1, 2},
      [](Rank &r) {
        MtcTransfer t{r.rank == 0, 1 - r.rank, MTC_ARENA_ACTIVATIONS,
                      7 + r.rank,  0,          400};
        return text(r.comm.exchange({&t, 1}));
      },
      {"rank 0 sent tag 7 with 400", "rank 1 expected tag 8 with 400"});
}

TEST_P(Failures, SizeMismatchReachesBothSides) {
  expectDisagreement(
      {1, 1, 2},
      [](Rank &r) {
        MtcTransfer t{r.rank == 0, 1 - r.rank, MTC_ARENA_ACTIVATIONS,
                      7,           0,          400 + r.rank};
        return text(r.comm.exchange({&t, 1}));
      },
      {"rank 0 sent tag 7 with 400", "rank 1 expected tag 7 with 401"});
}

TEST_P(Failures, AreSticky) {
  expectDisagreement({2, 1, 1},
                     [](Rank &r) {
                       char *buffer = r.arena(MTC_ARENA_GRADS);
                       (void)r.comm.allReduce(MTC_GROUP_TP, MTC_SUM, MTC_F32,
                                              buffer, 1 + r.rank);
                       return text(r.comm.allReduce(MTC_GROUP_TP, MTC_SUM,
                                                    MTC_F32, buffer, 1));
                     },
                     {"of 1 elements (call 1)", "of 2 elements (call 1)"});
}

// Members of another group do not hang because a group failed.
TEST_P(Failures, ReachOtherGroups) {
  std::vector<std::string> found =
      runWorld(GetParam(), {2, 1, 2}, kArena, [](Rank &r) {
        char *buffer = r.arena(MTC_ARENA_GRADS);
        return text(r.rank < 2 ? r.comm.allReduce(MTC_GROUP_TP, MTC_SUM,
                                                  MTC_F32, buffer, 1 + r.rank)
                               : r.comm.barrier());
      });
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(found[rank].substr(0, 3), rank < 2 ? "14 " : "12 ");
}

TEST_P(Failures, RejectsWhatItCannotDo) {
  auto expectUsage = [&](const Body &body) {
    for (const std::string &found :
         runWorld(GetParam(), {1, 1, 2}, kArena, body))
      EXPECT_EQ(found.substr(0, 2), "2 ") << found;
  };
  auto reduce = [](Rank &r, MtcReduce op, MtcDtype dtype, int64_t count) {
    return text(r.comm.allReduce(MTC_GROUP_ALL, op, dtype,
                                 r.arena(MTC_ARENA_GRADS), count));
  };
  expectUsage([&](Rank &r) { return reduce(r, MTC_SUM, MTC_I32, 4); });
  expectUsage([&](Rank &r) { return reduce(r, MTC_MAX, MTC_I128, 4); });
  expectUsage([&](Rank &r) { return reduce(r, MTC_SUM, MTC_F32, -1); });
  expectUsage([&](Rank &r) { // leaves the arena
    return reduce(r, MTC_SUM, MTC_F32, kArena);
  });
  expectUsage([&](Rank &r) {
    std::vector<float> outside(5000);
    return text(r.comm.allReduce(MTC_GROUP_ALL, MTC_SUM, MTC_F32,
                                 outside.data(), 5000));
  });
}

TEST_P(Failures, RejectsBadTransfers) {
  const MtcTransfer bad[] = {
      {1, 2, MTC_ARENA_GRADS, 0, 0, 8},          // no such stage
      {1, 0, MTC_ARENA_COUNT, 0, 0, 8},          // no such arena
      {1, 0, MTC_ARENA_GRADS, 0, kArena - 4, 8}, // leaves the arena
      {1, 0, MTC_ARENA_GRADS, 0, -8, 8},         // before the arena
      {1, 0, MTC_ARENA_GRADS, 0, 8, INT64_MAX}}; // overflows
  for (const MtcTransfer &t : bad)
    for (const std::string &found :
         runWorld(GetParam(), {1, 1, 1}, kArena, [&](Rank &r) {
           return text(r.comm.exchange({&t, 1}));
         }))
      EXPECT_EQ(found.substr(0, 2), "2 ") << found;
}

/// Rank 1 of `mesh` dies; the others call `wait` and must fail within two
/// seconds of their call.
void expectDeathUnblocks(Backend backend, runtime::Mesh mesh,
                         const std::function<Status(Rank &)> &wait) {
  std::vector<std::string> found =
      runWorld(backend, mesh, kArena, [&](Rank &r) {
        auto start = std::chrono::steady_clock::now();
        if (r.rank != 1) {
          std::string said = text(wait(r));
          std::chrono::duration<double> took =
              std::chrono::steady_clock::now() - start;
          return took.count() < 2 ? said : said + ", late";
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return r.die();
      });
  for (int rank = 0; rank < mesh.worldSize(); ++rank)
    EXPECT_EQ(found[rank], rank == 1 ? "killed" : "12 rank 1 died");
}

TEST_P(Failures, DeathUnblocksCollectives) {
  for (int64_t count : {1, 50000})
    expectDeathUnblocks(GetParam(), {4, 1, 1}, [&](Rank &r) {
      return r.comm.allReduce(MTC_GROUP_TP, MTC_SUM, MTC_F32,
                              r.arena(MTC_ARENA_GRADS), count);
    });
}

TEST_P(Failures, DeathUnblocksExchanges) {
  expectDeathUnblocks(GetParam(), {1, 1, 3}, [](Rank &r) {
    MtcTransfer t{r.rank == 0, 1, MTC_ARENA_GRADS, 0, 0, 8};
    return r.comm.exchange({&t, 1});
  });
}

TEST_P(Failures, AbortReachesPendingAndFutureCalls) {
  std::vector<std::string> found =
      runWorld(GetParam(), {3, 1, 1}, kArena, [](Rank &r) {
        if (r.rank == 2)
          r.comm.abort();
        std::string first = text(r.comm.barrier());
        return first == text(r.comm.barrier()) ? first : "changed its mind";
      });
  for (const std::string &text : found)
    EXPECT_EQ(text, "12 rank 2 aborted");
}

// From another thread, as a watchdog does. Rank 1 is slow, so that rank 0 is
// blocked most of the time.
TEST_P(Failures, AbortFromAnotherThread) {
  std::vector<std::string> found =
      runWorld(GetParam(), {2, 1, 1}, kArena, [](Rank &r) {
        std::thread watchdog([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(12));
          if (r.rank == 0)
            r.comm.abort();
        });
        Status status;
        while (status.ok()) {
          if (r.rank == 1)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
          status = r.comm.barrier();
        }
        watchdog.join();
        return text(status);
      });
  for (const std::string &text : found)
    EXPECT_EQ(text, "12 rank 0 aborted");
}

INSTANTIATE_TEST_SUITE_P(Comm, Failures, ::testing::ValuesIn(kBackends),
                         backendName);

/// Every rank of a strict world gets the same report, with all of `parts`.
void expectDeadlock(runtime::Mesh mesh, const Body &body,
                    std::vector<std::string> parts) {
  parts.push_back("13 deadlock");
  for (const std::string &found :
       runWorld(Backend::threadsStrict, mesh, kArena, body))
    EXPECT_TRUE(contains(found, parts));
}

TEST(Deadlock, SendFirstSendFirst) {
  expectDeadlock(
      {1, 1, 2},
      [](Rank &r) {
        MtcTransfer out{1, 1 - r.rank, MTC_ARENA_ACTIVATIONS, 3, 0, 8};
        MtcTransfer in{0, 1 - r.rank, MTC_ARENA_WORKSPACE, 3, 0, 8};
        MTC_EXPECT_OK(r.comm.exchange({&out, 1}));
        return text(r.comm.exchange({&in, 1}));
      },
      {"rank 0 waits in an exchange to send tag 3 (8 bytes) to rank 1",
       "rank 1 waits in an exchange to send tag 3 (8 bytes) to rank 0"});
}

TEST(Deadlock, CollectiveAgainstReceive) {
  expectDeadlock(
      {1, 1, 2},
      [](Rank &r) {
        MtcTransfer in{0, 0, MTC_ARENA_WORKSPACE, 3, 0, 8};
        return text(r.rank == 0 ? r.comm.barrier() : r.comm.exchange({&in, 1}));
      },
      {"rank 0 waits in barrier (call 1) of group all for rank 1",
       "rank 1 waits in an exchange to receive tag 3 (8 bytes) from rank 0"});
}

TEST(Deadlock, GroupsInDifferentOrder) {
  expectDeadlock(
      {2, 2, 1},
      [](Rank &r) {
        bool swap = r.rank == 1 || r.rank == 2;
        char *buffer = r.arena(MTC_ARENA_GRADS);
        for (MtcGroup group : {swap ? MTC_GROUP_DP : MTC_GROUP_TP,
                               swap ? MTC_GROUP_TP : MTC_GROUP_DP})
          MTC_EXPECT_OK(r.comm.allReduce(group, MTC_SUM, MTC_F32, buffer, 1));
        return std::string("no deadlock seen");
      },
      {"group tp for rank 1", "group dp for rank 3", "group tp for rank 2",
       "group dp for rank 0"});
}

TEST(Deadlock, AFinishedRankIsWaitedFor) {
  std::vector<std::string> found =
      runWorld(Backend::threadsStrict, {3, 1, 1}, kArena, [](Rank &r) {
        if (r.rank == 1) {
          r.comm.finish();
          return std::string();
        }
        return text(r.comm.barrier());
      });
  EXPECT_EQ(found[1], "");
  for (int rank : {0, 2})
    EXPECT_TRUE(contains(found[rank],
                         {"13 deadlock", "for rank 1", "rank 1 has finished"}));
}

} // namespace
