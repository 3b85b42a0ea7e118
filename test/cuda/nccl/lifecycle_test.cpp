//===- lifecycle_test.cpp - communicators come, split, go and die ---------===//
#include "test/cuda/nccl/harness.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstring>
#include <cstdlib>
#include <thread>
#include <unistd.h>

using namespace mtc::standin::nccl::test;

namespace {

constexpr ncclConfig_t kDefault = NCCL_CONFIG_INITIALIZER;

ncclConfig_t nonblocking() {
  ncclConfig_t config = kDefault;
  config.blocking = 0;
  return config;
}

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
  MTC_OK(self.nccl.ncclCommSplit(comm, inside ? 0 : NCCL_SPLIT_NOCOLOR, 0, &half,
                                 nullptr));
  MTC_TRUE((half != nullptr) == inside);
  MTC_OK(self.nccl.ncclCommDestroy(child));
  MTC_OK(self.sum(x, 64, comm, self.s));
  MTC_TRUE(self.get(x, 1)[0] == 12);
}

/// A call of what is gone is refused, and told.
MTC_PROGRAM(stale) {
  ncclComm_t aborted = self.communicator(), destroyed = self.communicator();
  ncclResult_t error = ncclSuccess;
  CUdeviceptr x = self.floats(64, 1);
  MTC_OK(self.nccl.ncclCommAbort(aborted));
  MTC_OK(self.nccl.ncclCommAbort(aborted));
  MTC_IS(ncclInvalidArgument, self.sum(x, 64, aborted, self.s));
  MTC_IS(ncclInvalidArgument, self.nccl.ncclCommGetAsyncError(aborted, &error));
  MTC_IS(ncclInvalidArgument, self.nccl.ncclCommDestroy(aborted));
  MTC_OK(self.nccl.ncclCommDestroy(destroyed));
  MTC_IS(ncclInvalidArgument, self.nccl.ncclCommDestroy(destroyed));
  MTC_IS(ncclInvalidArgument, self.sum(x, 64, destroyed, self.s));
  MTC_IS(ncclInvalidArgument, self.sum(x, 64, nullptr, self.s));
  char bytes[64] = {};
  MTC_IS(ncclInvalidArgument,
         self.sum(x, 64, reinterpret_cast<ncclComm_t>(bytes), self.s));
  MTC_OK(self.nccl.ncclCommAbort(nullptr));
  MTC_OK(self.nccl.ncclCommDestroy(nullptr));
}

/// Rank 1 goes, one way or another, while rank 0 has a call in flight.
void partnerGoes(Rank &self, void (*go)(Rank &, ncclComm_t)) {
  ncclComm_t comm = self.communicator();
  self.warm(comm);
  if (self.rank) {
    go(self, comm);
    return;
  }
  MTC_OK(self.asyncError(comm)); // nothing is in flight
  CUdeviceptr x = self.floats(64, 1);
  MTC_OK(self.sum(x, 64, comm, self.s));
  while (self.asyncError(comm) == ncclSuccess)
    MTC_IS(CUDA_ERROR_NOT_READY, self.cu.cuStreamQuery(self.s));
  MTC_IS(ncclRemoteError, self.asyncError(comm));
  MTC_IS(CUDA_ERROR_NOT_READY, self.await(self.s, 0.05));
  MTC_OK(self.nccl.ncclCommAbort(comm));
  MTC_OK(self.await(self.s, 10));
  // The device is as good as before, and what was to come is garbage.
  MTC_TRUE(self.get(x, 1)[0] != 1 && self.get(x, 1)[0] != 2);
}
MTC_PROGRAM(partnerIsKilled) {
  partnerGoes(self, [](Rank &, ncclComm_t) { kill(getpid(), SIGKILL); });
}
MTC_PROGRAM(partnerExits) {
  partnerGoes(self, [](Rank &, ncclComm_t) { _exit(0); });
}
MTC_PROGRAM(partnerAborts) {
  partnerGoes(self, [](Rank &self, ncclComm_t comm) {
    MTC_OK(self.nccl.ncclCommAbort(comm));
    usleep(300000);
  });
}

/// The first call waits in the host; another thread ends it.
MTC_PROGRAM(abortedInACall) {
  ncclComm_t comm = self.communicator();
  if (self.rank == 0) {
    CUdeviceptr x = self.floats(64, 1);
    std::thread watchdog([&] {
      usleep(50000);
      MTC_OK(self.nccl.ncclCommAbort(comm));
    });
    MTC_IS(ncclInternalError, self.sum(x, 64, comm, self.s));
    watchdog.join();
    MTC_OK(self.cu.cuStreamSynchronize(self.s));
  }
  self.barrier();
}

MTC_PROGRAM(nonblockingCalls) {
  ncclConfig_t config = nonblocking();
  ncclComm_t comm = nullptr;
  MTC_IS(ncclInProgress, self.nccl.ncclCommInitRankConfig(
                             &comm, self.size, self.id(), self.rank, &config));
  MTC_OK(self.settle(comm));
  CUdeviceptr x = self.floats(64, 1);
  for (int round = 0; round < 3; ++round) {
    MTC_IS(ncclInProgress, self.sum(x, 64, comm, self.s));
    MTC_OK(self.settle(comm));
  }
  MTC_TRUE(self.get(x, 1)[0] == 8);
  MTC_IS(ncclInProgress, self.nccl.ncclCommFinalize(comm));
  MTC_OK(self.settle(comm));
  MTC_OK(self.nccl.ncclCommDestroy(comm));
}

/// Who does not ask may not call.
MTC_PROGRAM(nonblockingHaste) {
  ncclConfig_t config = nonblocking();
  ncclComm_t comm = nullptr;
  MTC_IS(ncclInProgress, self.nccl.ncclCommInitRankConfig(
                             &comm, self.size, self.id(), self.rank, &config));
  CUdeviceptr x = self.floats(64, 1);
  MTC_IS(ncclInvalidArgument, self.sum(x, 64, comm, self.s));
  MTC_OK(self.settle(comm));
}

/// One bad argument, and it is of no use any more.
MTC_PROGRAM(nonblockingError) {
  ncclConfig_t config = nonblocking();
  ncclComm_t comm = nullptr;
  self.nccl.ncclCommInitRankConfig(&comm, self.size, self.id(), self.rank,
                                   &config);
  MTC_OK(self.settle(comm));
  CUdeviceptr x = self.floats(64, 1);
  auto *at = reinterpret_cast<void *>(x);
  auto stream = reinterpret_cast<cudaStream_t>(self.s);
  MTC_IS(ncclInvalidArgument, self.nccl.ncclAllReduce(
                                  at, at, 64, ncclDataType_t(99), ncclSum, comm,
                                  stream));
  MTC_IS(ncclInvalidArgument, self.asyncError(comm));
  MTC_IS(ncclInvalidArgument, self.sum(x, 64, comm, self.s));
  MTC_IS(ncclInvalidArgument, self.nccl.ncclCommDestroy(comm));
  MTC_OK(self.nccl.ncclCommAbort(comm));
}

/// Ranks that never come together.
MTC_PROGRAM(initMismatch) {
  ncclConfig_t config = nonblocking();
  ncclComm_t same = nullptr, sizes = nullptr;
  ncclUniqueId id = self.id();
  MTC_IS(ncclInProgress,
         self.nccl.ncclCommInitRankConfig(&same, 2, id, 0, &config));
  id = self.id();
  MTC_IS(ncclInProgress, self.nccl.ncclCommInitRankConfig(
                             &sizes, 2 + self.rank, id, self.rank, &config));
  for (int k = 0; k < 100; ++k)
    MTC_TRUE(self.asyncError(same) == ncclInProgress &&
             self.asyncError(sizes) == ncclInProgress);
  self.barrier();
  MTC_OK(self.nccl.ncclCommAbort(same));
  MTC_OK(self.nccl.ncclCommAbort(sizes));
}

MTC_PROGRAM(initAlone) {
  ncclUniqueId id = self.id();
  ncclComm_t comm = nullptr;
  MTC_IS(ncclInternalError, self.nccl.ncclCommInitRank(&comm, 2, id, 0));
}

MTC_PROGRAM(oneGpu) {
  ncclComm_t comm = nullptr;
  MTC_IS(ncclInvalidUsage,
         self.nccl.ncclCommInitRank(&comm, self.size, self.id(), self.rank));
  self.barrier();
}

/// All ranks in one thread, and then in threads of their own.
MTC_PROGRAM(oneProcess) {
  constexpr int kRanks = 3;
  ncclComm_t comms[kRanks];
  MTC_OK(self.nccl.ncclCommInitAll(comms, kRanks, std::array{0, 0, 0}.data()));
  CUdeviceptr x[kRanks];
  MTC_OK(self.nccl.ncclGroupStart());
  for (int rank = 0; rank < kRanks; ++rank) {
    x[rank] = self.floats(64, float(rank));
    CUstream stream = nullptr;
    MTC_OK(self.cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MTC_OK(self.sum(x[rank], 64, comms[rank], stream));
  }
  MTC_OK(self.nccl.ncclGroupEnd());
  MTC_OK(self.cu.cuCtxSynchronize());
  for (CUdeviceptr each : x)
    MTC_TRUE(self.get(each, 1)[0] == 3);
}

MTC_PROGRAM(threads) {
  ncclUniqueId id = self.id();
  std::vector<std::thread> all;
  for (int rank = 0; rank < 4; ++rank)
    all.emplace_back([&self, id, rank] {
      MTC_OK(self.cu.cuCtxSetCurrent(self.context));
      CUstream stream = nullptr;
      ncclComm_t comm = nullptr;
      MTC_OK(self.nccl.ncclCommInitRank(&comm, 4, id, rank));
      MTC_OK(self.cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
      CUdeviceptr x = self.empty(256);
      MTC_OK(self.cu.cuMemsetD32Async(x, 0x3f800000, 64, stream));
      for (int round = 0; round < 3; ++round)
        MTC_OK(self.sum(x, 64, comm, stream));
      MTC_OK(self.cu.cuStreamSynchronize(stream));
      float found = 0;
      MTC_OK(self.cu.cuMemcpyDtoH(&found, x, 4));
      MTC_TRUE(found == 64);
      MTC_OK(self.nccl.ncclCommDestroy(comm));
    });
  for (std::thread &each : all)
    each.join();
}

MTC_PROGRAM(leaks) {
  ncclConfig_t config = kDefault;
  config.commName = "tp";
  self.communicator(&config);
  ncclComm_t other = self.communicator();
  MTC_OK(self.nccl.ncclCommDestroy(other));
  std::exit(0);
}

TEST(Lifecycle, BeginsAndEnds) {
  for (const char *each : {"destroysLate", "nonblockingCalls"})
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      Outcome outcome = run(each, {.seed = seed});
      EXPECT_TRUE(outcome.good()) << each << outcome.text();
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

TEST(Lifecycle, StaleHandlesAreRefused) {
  Outcome outcome = run("stale");
  EXPECT_TRUE(outcome.ended()) << outcome.text();
  EXPECT_TRUE(outcome.has("communicator 1, rank 0 of 2, which was aborted"))
      << outcome.text();
  EXPECT_TRUE(outcome.has("communicator 2, rank 1 of 2, which was destroyed"))
      << outcome.text();
}

TEST(Lifecycle, WhoIsLeftSeesThatAPartnerIsGone) {
  for (const char *each : {"partnerIsKilled", "partnerExits", "partnerAborts"}) {
    Outcome outcome = run(each);
    EXPECT_EQ(outcome.ranks[0].code, 0) << each << outcome.text();
  }
}

TEST(Lifecycle, AnAbortEndsACallThatBlocks) {
  Outcome outcome = run("abortedInACall");
  EXPECT_TRUE(outcome.good()) << outcome.text();
}

TEST(Lifecycle, WithoutBlockingTheStateIsToBeAsked) {
  Outcome haste = run("nonblockingHaste"), error = run("nonblockingError");
  EXPECT_TRUE(haste.ended()) << haste.text();
  EXPECT_TRUE(haste.has("before the previous operation returned"))
      << haste.text();
  EXPECT_TRUE(error.ended()) << error.text();
}

TEST(Lifecycle, RanksThatDoNotFitNeverMeet) {
  Outcome outcome = run("initMismatch");
  EXPECT_TRUE(outcome.ended()) << outcome.text();
  EXPECT_TRUE(outcome.has("rank 0 of 2 ranks has already checked in"))
      << outcome.text();
  EXPECT_TRUE(outcome.has("mismatch in info from procs")) << outcome.text();
  outcome = run("initAlone", {.ranks = 1,
                              .environment = {{"MTC_STANDIN_PATIENCE", "0.2"}}});
  EXPECT_TRUE(outcome.has("rank 1 has not come")) << outcome.text();
}

TEST(Lifecycle, RanksDoNotShareAGpu) {
  Outcome outcome = run("oneGpu", {.environment = {{"NCCL_HOSTID", "one"}}});
  EXPECT_TRUE(outcome.good()) << outcome.text();
}

TEST(Lifecycle, RanksOfOneProcessDoIfTheyMay) {
  for (const char *each : {"oneProcess", "threads"}) {
    Outcome outcome =
        run(each, {.ranks = 1,
                   .environment = {{"MTC_STANDIN_ALLOW", "duplicate_gpu"}}});
    EXPECT_TRUE(outcome.ended()) << each << outcome.text();
  }
}

TEST(Lifecycle, WhatIsLeftIsTold) {
  Outcome outcome =
      run("leaks", {.environment = {{"MTC_STANDIN_LEAKS", "1"}}});
  EXPECT_TRUE(outcome.has("left at the end: communicator 1 (tp), rank 1 of 2"))
      << outcome.text();
  EXPECT_FALSE(outcome.has("communicator 2")) << outcome.text();
}

} // namespace
