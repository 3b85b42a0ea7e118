//===- mpi_start_test.cpp - MPI that does not begin -----------------------===//

#include "runtime/control/mpi_start.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

using namespace mtc::runtime;

namespace {

constexpr std::chrono::milliseconds kShort{100};

class MpiStartTest : public ::testing::Test {
protected:
  MpiStartTest() {
    options_.mpi = "mpich";
    options_.mpiFolder = STUCK_FOLDER;
    place_.world = 2;
    for (const char *name : {"PMI_FD", "PMI_PORT"})
      unsetenv(name);
  }

  using Clock = std::chrono::steady_clock;
  RunOptions options_;
  LaunchPlace place_;
};

/// MPI ends the process when it is not left alone.
TEST_F(MpiStartTest, ASignalEndsTheWaitBehindTheMeeting) {
  std::atomic<bool> stop{true}, open{false};
  auto gather = [&](const std::string &, std::vector<std::string> &) {
    while (!open) // until this rank says that it goes
      std::this_thread::sleep_for(kShort);
    return Status(StatusCode::interrupted, "stopped");
  };
  Clock::time_point begin = Clock::now();
  {
    MpiStart start(options_, place_);
    ASSERT_TRUE(start.begin({kShort, nullptr}).ok());
    Status status = start.behind(gather, stop);
    EXPECT_EQ(status.code(), StatusCode::interrupted) << status.message();
    EXPECT_GE(Clock::now() - begin, std::chrono::seconds(5));
    open = true;
  }
  std::this_thread::sleep_for(2 * kShort);
}

TEST_F(MpiStartTest, WhatTheOthersSayEndsTheWait) {
  std::atomic<bool> stop{false};
  auto gather = [](const std::string &, std::vector<std::string> &) {
    return Status(StatusCode::peerDied, "rank 1 died");
  };
  {
    MpiStart start(options_, place_);
    ASSERT_TRUE(start.begin({kShort, nullptr}).ok());
    Status status = start.behind(gather, stop);
    EXPECT_EQ(status.code(), StatusCode::peerDied);
    EXPECT_EQ(status.message(), "rank 1 died");
  }
  std::this_thread::sleep_for(2 * kShort);
}

TEST_F(MpiStartTest, ALaunchersLibraryHasATimeLimit) {
  setenv("PMI_FD", "-1", 1); // as mpiexec would
  MpiStart start(options_, place_);
  Status status = start.begin({kShort, nullptr});
  EXPECT_EQ(status.code(), StatusCode::peerDied) << status.message();
}

TEST_F(MpiStartTest, ASignalEndsTheWaitOfALaunchersLibrary) {
  setenv("PMI_FD", "-1", 1);
  MpiStart start(options_, place_);
  Status status = start.begin({std::chrono::minutes(1), [] { return true; }});
  EXPECT_EQ(status.code(), StatusCode::interrupted) << status.message();
}

} // namespace
