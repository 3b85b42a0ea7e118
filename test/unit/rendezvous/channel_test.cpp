//===- channel_test.cpp - a job that runs ---------------------------------===//

#include "job.h"

#include "runtime/rendezvous/failure.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <string>

using namespace mtc::runtime;
using namespace mtc::test;
using namespace std::chrono_literals;

namespace {

/// Allocates nothing: it runs in a fork of several threads.
bool isStopped(const char *statFile) {
  char text[512] = "";
  int file = open(statFile, O_RDONLY | O_CLOEXEC);
  ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  const char *name = count > 0 ? std::strrchr(text, ')') : nullptr;
  return name && std::strncmp(name, ") T", 3) == 0;
}

/// SIGSTOP, and later SIGCONT of another process, which waits for the stop: on
/// a machine that stands still meanwhile a SIGCONT may come first, and nothing
/// would go on.
void stopSelfFor(std::chrono::milliseconds time) {
  pid_t self = getpid();
  const std::string stat = "/proc/" + std::to_string(self) + "/stat";
  if (fork() == 0) {
    while (getppid() == self && !isStopped(stat.c_str()))
      usleep(1000);
    usleep(useconds_t(time.count() * 1000));
    kill(self, SIGCONT);
    _exit(0);
  }
  raise(SIGSTOP);
}

/// Both ranks of a job, in one process that is stopped for longer than others
/// are waited for. Ends with how many heard of a death.
[[noreturn]] void suspendedAndGoesOn(const Heartbeats &heartbeats) {
  Job job(2);
  job.heartbeats() = heartbeats;
  std::atomic<int> dead{0};
  job.run(job.all(), [&](int rank) {
    Job::Channel channel;
    if (!job.open(rank, channel).ok())
      _exit(10);
    std::this_thread::sleep_for(100ms);
    if (rank == 0)
      stopSelfFor(3 * heartbeats.patience);
    std::this_thread::sleep_for(100ms);
    dead += channel->raised();
    channel->finish({});
  });
  _exit(dead);
}

TEST(Channel, GathersRoundAfterRound) {
  Job job(5);
  job.run(job.all(), [&](int rank) {
    Job::Channel channel;
    Status opened = job.open(rank, channel);
    ASSERT_TRUE(opened.ok()) << opened.message();
    for (int round = 0; round < 20; ++round) {
      std::vector<std::string> all;
      std::string own(size_t(1) << (round % 18), char('a' + rank));
      ASSERT_TRUE(channel->gather(own, all).ok());
      ASSERT_EQ(all.size(), 5u);
      for (size_t other = 0; other < all.size(); ++other)
        ASSERT_EQ(all[other], std::string(own.size(), char('a' + other)));
    }
    channel->finish({});
    EXPECT_FALSE(channel->raised());
  });
}

TEST(Channel, ADeathIsNamedAtOnce) {
  for (int dead : {0, 1, 3}) {
    Job job(4);
    job.run(job.all(), [&](int rank) {
      Job::Channel channel;
      ASSERT_TRUE(job.open(rank, channel).ok());
      std::vector<std::string> all;
      ASSERT_TRUE(channel->gather("", all).ok());
      if (rank == dead)
        return; // closes without a word
      EXPECT_TRUE(hears(*channel, 2000ms)) << rank;
      EXPECT_EQ(channel->verdict().code(), StatusCode::peerDied);
      std::string where = dead == 0 ? "" : dead < 2 ? "on host0 " : "on host1 ";
      EXPECT_EQ(channel->verdict().message(),
                "rank " + std::to_string(dead) + " " + where + "died");
      // What waits for the dead ends, too.
      EXPECT_EQ(channel->gather("", all).code(), StatusCode::peerDied);
    });
  }
}

TEST(Channel, AFailureReachesMembersAsItIs) {
  Job job(4);
  job.run(job.all(), [&](int rank) {
    Job::Channel channel;
    ASSERT_TRUE(job.open(rank, channel).ok());
    int members[] = {1, 2};
    if (rank == 2)
      channel->raise({StatusCode::communication, "they disagree"}, members);
    EXPECT_TRUE(hears(*channel, 2000ms));
    bool member = rank == 1 || rank == 2;
    EXPECT_EQ(channel->verdict().code(),
              member ? StatusCode::communication : StatusCode::peerDied);
    EXPECT_EQ(channel->verdict().message(),
              member ? "they disagree" : "rank 2 on host1 aborted");
    channel->finish(channel->verdict());
    if (rank == 0) {
      EXPECT_EQ(channel->outcomes().size(), 4u);
    }
  });
}

TEST(Channel, AnEndIsNoDeath) {
  Job job(3);
  job.run(job.all(), [&](int rank) {
    Job::Channel channel;
    ASSERT_TRUE(job.open(rank, channel).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(30 * rank));
    channel->finish(rank == 1 ? Status(StatusCode::interrupted, "stopped")
                              : Status());
    EXPECT_FALSE(channel->raised());
    if (rank == 0) {
      EXPECT_EQ(channel->outcomes().at(1).message(), "stopped");
      EXPECT_FALSE(channel->isSilent(1));
    }
  });
}

TEST(Channel, WhoEndedIsNotWaitedFor) {
  for (int ends : {0, 1, 3}) {
    Job job(4);
    job.run(job.all(), [&](int rank) {
      Job::Channel channel;
      ASSERT_TRUE(job.open(rank, channel).ok());
      std::vector<std::string> all;
      if (rank == ends)
        return channel->finish({});
      // Before and behind its end.
      std::this_thread::sleep_for(30ms * (rank % 2));
      Status status = channel->gather("", all);
      EXPECT_EQ(status.code(), StatusCode::peerDied);
      EXPECT_EQ(status.message().find("rank " + std::to_string(ends)), 0u);
      EXPECT_TRUE(
          status.message().ends_with("ended while others waited for it"))
          << status.message();
      channel->finish(status);
    });
  }
}

TEST(Channel, MoreThanAFrameIsAnError) {
  Job job(2);
  job.run(job.all(), [&](int rank) {
    Job::Channel channel;
    ASSERT_TRUE(job.open(rank, channel).ok());
    std::vector<std::string> all;
    std::string most(kMostGivenBytes, 'x');
    ASSERT_TRUE(channel->gather(most, all).ok());
    EXPECT_EQ(all[0].size() + all[1].size(), 2 * most.size());
    if (rank == 1) {
      Status status = channel->gather(most + "x", all);
      EXPECT_EQ(status.code(), StatusCode::failed);
      EXPECT_EQ(status.message(),
                "rank 1 has 1048564 bytes for the other ranks, and can tell "
                "them 1048563 at a time");
      EXPECT_FALSE(channel->raised());
    }
    channel->finish({});
  });
}

// As when all are stopped in a terminal, and go on later.
TEST(Channel, TimeInWhichNobodyRanIsNoSilence) {
  Heartbeats heartbeats{20ms, 300ms};
  EXPECT_EXIT(suspendedAndGoesOn(heartbeats), testing::ExitedWithCode(0), "");
}

// Rank 0 hears how far all are, and who is blamed is told to all as it is.
TEST(Channel, AHangIsBlamedOnOneRank) {
  Job job(4);
  job.heartbeats() = {20ms, 10'000ms};
  job.run(job.all(), [&](int rank) {
    Job::Channel channel;
    ASSERT_TRUE(job.open(rank, channel).ok());
    EXPECT_FALSE(channel->lost());
    channel->report(10 + rank, rank);
    auto heardOfAll = [&] {
      std::vector<LifeSign> signs = channel->signs();
      for (size_t other = 0; other < signs.size(); ++other)
        if (signs[other].step != int64_t(10 + other) ||
            signs[other].beats != int64_t(other))
          return false;
      return signs.size() == 4;
    };
    auto end = std::chrono::steady_clock::now() + 2000ms;
    while (rank == 0 && !heardOfAll() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(2ms);
    if (rank == 0) {
      EXPECT_TRUE(heardOfAll());
      channel->blame(2, {StatusCode::hang, "no step began: rank 2"});
    }
    EXPECT_TRUE(hears(*channel, 2000ms));
    EXPECT_EQ(channel->verdict().code(), StatusCode::hang);
    EXPECT_EQ(channel->verdict().message(), "no step began: rank 2");
    EXPECT_EQ(channel->lost(), 2);
    channel->finish(channel->verdict());
  });
}

TEST(Channel, WhoSaysWhyIsNotLost) {
  Job job(3);
  job.run(job.all(), [&](int rank) {
    Job::Channel channel;
    ASSERT_TRUE(job.open(rank, channel).ok());
    if (rank == 2)
      channel->raise({StatusCode::peerDied, "rank 2 aborted"}, {});
    EXPECT_TRUE(hears(*channel, 2000ms));
    EXPECT_FALSE(channel->lost());
    channel->finish(channel->verdict());
  });
}

// A peer that is connected and says nothing, as on a host without power.
TEST(Channel, SilenceIsDeathAfterAWhile) {
  Job job(3);
  job.heartbeats() = {50ms, 400ms};
  job.run(job.all(), [&](int rank) {
    if (rank == 2) {
      Connection silent;
      ASSERT_TRUE(meetFirst(job.member(2), job.options(), silent).ok());
      std::this_thread::sleep_for(1500ms);
      return;
    }
    Job::Channel channel;
    ASSERT_TRUE(job.open(rank, channel).ok());
    EXPECT_TRUE(hears(*channel, 1400ms));
    EXPECT_TRUE(channel->verdict().message().starts_with(
        "rank 2 on host1 was not heard for"))
        << channel->verdict().message();
    EXPECT_EQ(channel->lost(), 2);
    if (rank == 0) {
      EXPECT_TRUE(channel->isSilent(2));
      EXPECT_FALSE(channel->isSilent(0));
    }
  });
}

// Who waits for others to come has nothing to say until all are there.
TEST(Channel, WaitingForOthersIsNoSilence) {
  Job job(3);
  job.heartbeats() = {50ms, 400ms};
  job.run(job.all(), [&](int rank) {
    if (rank == 2)
      std::this_thread::sleep_for(1200ms);
    Job::Channel channel;
    ASSERT_TRUE(job.open(rank, channel).ok());
    std::vector<std::string> all;
    EXPECT_TRUE(channel->gather("", all).ok()) << channel->verdict().message();
    channel->finish({});
    EXPECT_FALSE(channel->raised());
  });
}

} // namespace
