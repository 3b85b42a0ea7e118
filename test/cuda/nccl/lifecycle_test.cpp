//===- lifecycle_test.cpp - communicators come, split and go --------------===//
#include "test/cuda/nccl/harness.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <unistd.h>

using namespace mtc::standin::nccl::test;

namespace {

MTC_PROGRAM(life) {
  int version = 0, count = 0, rank = -1, device = -1;
  MTC_OK(self.nccl.ncclGetVersion(&version));
  MTC_TRUE(version == NCCL_VERSION_CODE);
  ncclComm_t comm = self.communicator();
  MTC_OK(self.nccl.ncclCommCount(comm, &count));
  MTC_OK(self.nccl.ncclCommUserRank(comm, &rank));
  MTC_OK(self.nccl.ncclCommCuDevice(comm, &device));
  MTC_TRUE(count == self.size && rank == self.rank && device == 0);
  self.warm(comm);
  MTC_OK(self.nccl.ncclCommFinalize(comm));
  MTC_IS(ncclInvalidArgument, self.nccl.ncclCommFinalize(comm));
  MTC_OK(self.nccl.ncclCommDestroy(comm));
}

/// A destroy ends what is in streams.
MTC_PROGRAM(destroysLate) {
  ncclComm_t comm = self.communicator();
  self.warm(comm);
  CUdeviceptr x = self.floats(64, 1);
  if (self.rank)
    usleep(100000);
  MTC_OK(self.sum(x, 64, comm, self.s));
  MTC_OK(self.nccl.ncclCommDestroy(comm));
  MTC_TRUE(self.get(x, 1)[0] == float(self.size));
}

/// By parity, later ranks first; then the first half alone.
MTC_PROGRAM(splits) {
  ncclComm_t comm = self.communicator(), child = nullptr, half = nullptr;
  int rank = -1, count = 0;
  MTC_OK(self.nccl.ncclCommSplit(comm, self.rank % 2, -self.rank, &child,
                                 nullptr));
  MTC_OK(self.nccl.ncclCommCount(child, &count));
  MTC_OK(self.nccl.ncclCommUserRank(child, &rank));
  MTC_TRUE(count == self.size / 2 && rank == count - 1 - self.rank / 2);
  CUdeviceptr x = self.floats(64, float(self.rank));
  MTC_OK(self.sum(x, 64, child, self.s));
  MTC_TRUE(self.get(x, 1)[0] == float(self.rank % 2 ? 4 : 2));
  bool inside = self.rank < self.size / 2;
  MTC_OK(self.nccl.ncclCommSplit(comm, inside ? 0 : NCCL_SPLIT_NOCOLOR, 0,
                                 &half, nullptr));
  MTC_TRUE((half != nullptr) == inside);
  MTC_OK(self.nccl.ncclCommDestroy(child));
  MTC_OK(self.sum(x, 64, comm, self.s));
  MTC_TRUE(self.get(x, 1)[0] == 12);
}

MTC_PROGRAM(leaks) {
  ncclConfig_t config = configuration();
  config.commName = "tp";
  self.communicator(&config);
  ncclComm_t other = self.communicator();
  MTC_OK(self.nccl.ncclCommDestroy(other));
  std::exit(0);
}

TEST(Lifecycle, BeginsAndEnds) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    Outcome outcome = run("destroysLate", {.seed = seed});
    EXPECT_TRUE(outcome.good()) << seed << outcome.text();
  }
  Outcome outcome = run("life", {.ranks = 3});
  EXPECT_TRUE(outcome.good()) << outcome.text();
}

TEST(Lifecycle, Splits) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    Outcome outcome = run("splits", {.ranks = 4, .seed = seed});
    EXPECT_TRUE(outcome.ended()) << outcome.text();
  }
}

TEST(Lifecycle, WhatIsLeftIsTold) {
  Outcome outcome = run("leaks", {.environment = {{"MTC_STANDIN_LEAKS", "1"}}});
  EXPECT_TRUE(outcome.has("left at the end: communicator 1 (tp), rank 1 of 2"))
      << outcome.text();
  EXPECT_FALSE(outcome.has("communicator 2")) << outcome.text();
}

} // namespace
