//===- mpi_start_test.cpp - MPI that does not begin -----------------------===//

#include "runtime/control/mpi_start.h"

#include <gtest/gtest.h>

#include <cstdlib>

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

  /// Nobody else is there to be asked.
  static Status alone(const std::string &, std::vector<std::string> &) {
    return {StatusCode::peerDied, "rank 1 died"};
  }

  RunOptions options_;
  LaunchPlace place_;
};

TEST_F(MpiStartTest, ASignalEndsTheWaitBehindTheMeeting) {
  MpiStart start(options_, place_);
  ASSERT_TRUE(start.begin({kShort, nullptr}).ok());
  std::atomic<bool> stop{true};
  Status status = start.behind(alone, stop);
  EXPECT_EQ(status.code(), StatusCode::interrupted) << status.message();
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
