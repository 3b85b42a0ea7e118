//===- posts_test.cpp - transfers posted and waited for apart -------------===//

#include "messages.h"

#include <chrono>
#include <thread>

using namespace mtc;
using namespace mtc::test;

namespace {

constexpr int64_t kBytes = 1 << 21;

class Posts : public ::testing::TestWithParam<Backend> {};

/// What arrives of `count` messages, which the rank waits for one by one.
std::string waitBackwards(Rank &r, const std::vector<MtcTransfer> &list,
                          int from, uint64_t salt) {
  for (size_t n = list.size(); n-- > 0;) {
    MTC_EXPECT_OK(r.comm.wait({&list[n], 1}));
    if (list[n].is_send)
      continue;
    if (auto found = arrived(r, from, int(n), salt); !found.empty())
      return found;
  }
  return {};
}

// Whoever posts first; the waits in another order than the posts.
TEST_P(Posts, AreWaitedForInAnyOrder) {
  for (bool sendersFirst : {true, false})
    expectAllWell(GetParam(), {2, 1, 2}, kBytes, [&](Rank &r) {
      int stage = int(r.mesh.coordinate(r.rank, MTC_AXIS_PP));
      prepare(r, 6, 5);
      std::vector<MtcTransfer> list;
      for (int n = 0; n < 6; ++n)
        list.push_back(stage == 0 ? send(1, n) : receive(0, n));
      if ((stage == 0) != sendersFirst)
        MTC_EXPECT_OK(r.comm.barrier());
      for (const MtcTransfer &t : list)
        MTC_EXPECT_OK(r.comm.post({&t, 1}));
      if ((stage == 0) == sendersFirst)
        MTC_EXPECT_OK(r.comm.barrier());
      return waitBackwards(r, list, 0, 5);
    });
}

// A posted transfer needs neither side any more: the receiver of rank 0 is in
// a collective that ends only if rank 0's wait does.
TEST_P(Posts, TakePlaceWhileARankIsElsewhere) {
  for (bool receiverElsewhere : {true, false})
    expectAllWell(GetParam(), {2, 1, 2}, kBytes, [&](Rank &r) {
      int stage = int(r.mesh.coordinate(r.rank, MTC_AXIS_PP));
      int other = 1 - stage;
      bool first = r.mesh.coordinate(r.rank, MTC_AXIS_TP) == 0;
      bool sends = (stage == 0) == receiverElsewhere;
      prepare(r, 1, 9);
      MtcTransfer t = sends ? send(other, 0) : receive(other, 0);
      // Stage 0: one rank waits, then both meet. Stage 1: one rank posts and
      // meets at once; the other's transfer is behind stage 0's meeting.
      char *word = r.arena(MTC_ARENA_GRADS);
      auto meet = [&] {
        return r.comm.allReduce(MTC_GROUP_TP, MTC_SUM, MTC_F32, word, 1);
      };
      if (stage == 0 && !first)
        MTC_EXPECT_OK(meet());
      MTC_EXPECT_OK(r.comm.post({&t, 1}));
      if (stage == 1 && first)
        MTC_EXPECT_OK(meet());
      MTC_EXPECT_OK(r.comm.wait({&t, 1}));
      if ((stage == 0) == first)
        MTC_EXPECT_OK(meet());
      return sends ? std::string() : arrived(r, other, 0, 9);
    });
}

// As many as may be posted, again and again, so that slots are used again; both
// ways, the receiver sometimes late.
TEST_P(Posts, AsManyAsMayBe) {
  expectAllWell(GetParam(), {1, 1, 2}, kBytes, [](Rank &r) {
    int other = 1 - r.rank;
    for (int round = 0; round < 4; ++round) {
      uint64_t salt = uint64_t(round) * 200;
      prepare(r, kPosted, salt);
      std::vector<MtcTransfer> out, in;
      for (int n = 0; n < kPosted; ++n) {
        out.push_back(send(other, n));
        in.push_back(receive(other, n));
      }
      if (round % 2 == r.rank)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      MTC_EXPECT_OK(r.comm.post(out));
      MTC_EXPECT_OK(r.comm.post(in));
      if (auto found = waitBackwards(r, in, other, salt); !found.empty())
        return found;
      MTC_EXPECT_OK(r.comm.wait(out));
    }
    return std::string();
  });
}

// What a send that was waited for lay in may be written.
TEST_P(Posts, AWaitFreesTheBuffer) {
  expectAllWell(GetParam(), {1, 1, 3}, kBytes, [](Rank &r) {
    for (int n = 0; n < 300; ++n) {
      MtcTransfer in = receive(r.rank - 1, 0), out = send(r.rank + 1, 0);
      if (r.rank > 0) {
        MTC_EXPECT_OK(r.comm.post({&in, 1}));
        MTC_EXPECT_OK(r.comm.wait({&in, 1}));
        if (auto found = arrived(r, r.rank - 1, 0, uint64_t(n)); !found.empty())
          return found;
      }
      if (r.rank < 2) {
        prepare(r, 1, uint64_t(n));
        MTC_EXPECT_OK(r.comm.post({&out, 1}));
        MTC_EXPECT_OK(r.comm.wait({&out, 1}));
      }
    }
    return std::string();
  });
}

TEST_P(Posts, AWaitForAnotherIsRejected) {
  for (const std::string &found :
       runWorld(GetParam(), {1, 1, 1}, kBytes, [](Rank &r) {
         MtcTransfer pair[] = {send(0, 0), receive(0, 0)};
         MTC_EXPECT_OK(r.comm.post(pair));
         MTC_EXPECT_OK(r.comm.wait(pair));
         return text(r.comm.wait({pair, 1}));
       }))
    EXPECT_EQ(found,
              "2 rank 0 waits for 1 transfers: expected ones that it has "
              "posted and not waited for, found 0 of them");
}

TEST_P(Posts, AMismatchReachesBothSides) {
  for (const std::string &found :
       runWorld(GetParam(), {1, 1, 2}, kBytes, [](Rank &r) {
         MtcTransfer t = r.rank == 0 ? send(1, 0) : receive(0, 0);
         t.tag = 7 + r.rank;
         runtime::Status posted = r.comm.post({&t, 1});
         return text(posted.ok() ? r.comm.wait({&t, 1}) : posted);
       }))
    EXPECT_TRUE(found.starts_with("14 ") &&
                found.find("rank 0 sent tag 7") != std::string::npos)
        << found;
}

TEST_P(Posts, DeathEndsAWait) {
  std::vector<std::string> found =
      runWorld(GetParam(), {1, 1, 2}, kBytes, [](Rank &r) {
        if (r.rank == 1) {
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
          return r.die();
        }
        MtcTransfer t = send(1, 0);
        MTC_EXPECT_OK(r.comm.post({&t, 1}));
        return text(r.comm.wait({&t, 1}));
      });
  EXPECT_EQ(found[0], "12 rank 1 died");
}

// A rank that goes leaves nothing that others could touch.
TEST_P(Posts, MayBeLeftOpenByARankThatFails) {
  for (const std::string &found :
       runWorld(GetParam(), {1, 1, 2}, kBytes, [](Rank &r) {
         MtcTransfer t = r.rank == 0 ? send(1, 0) : receive(0, 0);
         if (r.rank == 1)
           std::this_thread::sleep_for(std::chrono::milliseconds(10));
         runtime::Status posted = r.comm.post({&t, 1});
         r.comm.abort();
         return text(posted.ok() ? r.comm.barrier() : posted);
       }))
    EXPECT_TRUE(found.starts_with("12 ")) << found;
}

INSTANTIATE_TEST_SUITE_P(Comm, Posts, ::testing::ValuesIn(kBackends),
                         backendName);

// Each waits for its receive, which the other posts behind a wait of its own.
TEST(Deadlock, WaitsThatCross) {
  for (const std::string &found :
       runWorld(Backend::threadsStrict, {1, 1, 2}, kBytes, [](Rank &r) {
         MtcTransfer out = send(1 - r.rank, 0), in = receive(1 - r.rank, 0);
         MTC_EXPECT_OK(r.comm.post({&in, 1}));
         MTC_EXPECT_OK(r.comm.wait({&in, 1}));
         return text(r.comm.exchange({&out, 1}));
       }))
    EXPECT_TRUE(found.find("13 deadlock") != std::string::npos &&
                found.find("receive tag 0") != std::string::npos)
        << found;
}

} // namespace
