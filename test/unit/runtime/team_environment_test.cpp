#include "runtime/control/team_environment.h"

#include <cstdlib>
#include <gmock/gmock.h>

using mtc::runtime::teamNote;
using mtc::runtime::teamVariables;
using testing::ElementsAre;

namespace {

class TeamEnvironment : public testing::Test {
protected:
  void SetUp() override { forget(); }
  void TearDown() override { forget(); }
  static void forget() {
    unsetenv("GOMP_SPINCOUNT");
    unsetenv("OMP_WAIT_POLICY");
  }
};

} // namespace

TEST_F(TeamEnvironment, ThreadsSpinOnCoresOfTheirOwnAlone) {
  EXPECT_THAT(teamVariables(2, 2, 2),
              ElementsAre("OMP_NUM_THREADS=2", "GOMP_SPINCOUNT=3000"));
  EXPECT_THAT(teamVariables(2, 8, 7),
              ElementsAre("OMP_NUM_THREADS=2", "GOMP_SPINCOUNT=0"));
}

TEST_F(TeamEnvironment, WhatSomebodySaidStands) {
  setenv("GOMP_SPINCOUNT", "17", 1);
  EXPECT_THAT(teamVariables(4, 4, 8), ElementsAre("OMP_NUM_THREADS=4"));
  forget();
  setenv("OMP_WAIT_POLICY", "passive", 1);
  EXPECT_THAT(teamVariables(4, 4, 8), ElementsAre("OMP_NUM_THREADS=4"));
}

TEST(TeamNote, OfThreadsWithoutCores) {
  EXPECT_EQ(
      teamNote(2, 4, 7),
      "note: 2 ranks of 4 threads each share 7 cores, so threads wait "
      "for one another in every kernel; compile with --threads-per-rank 3");
  EXPECT_EQ(teamNote(1, 2, 1),
            "note: 1 rank of 2 threads runs on 1 core, so threads wait for "
            "one another in every kernel; compile with --threads-per-rank 1");
  EXPECT_EQ(teamNote(2, 4, 8), "");
  EXPECT_EQ(teamNote(8, 1, 2), "") << "ranks may take turns";
}
