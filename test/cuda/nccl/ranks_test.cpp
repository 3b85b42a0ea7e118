//===- ranks_test.cpp - ranks that die, or never meet ---------------------===//
#include "test/cuda/nccl/harness.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <thread>
#include <unistd.h>

using namespace mtc::standin::nccl::test;

namespace {

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

/// Rank 0 hangs in calls of two communicators, whose partner is gone.
struct Hanging {
  ncclComm_t one, other;
  explicit Hanging(Rank &self, CUstream second)
      : one(self.communicator()), other(self.communicator()) {
    self.warm(one);
    self.warm(other);
    CUdeviceptr x = self.floats(64, 1), y = self.floats(64, 1);
    self.barrier();
    if (self.rank)
      _exit(0);
    MTC_OK(self.sum(x, 64, one, self.s));
    MTC_OK(self.sum(y, 64, other, second));
    while (self.asyncError(one) == ncclSuccess &&
           self.asyncError(other) == ncclSuccess)
      usleep(100);
  }
};

void abortsOneByOne(Rank &self, CUstream second) {
  Hanging pair(self, second);
  MTC_IS(ncclInternalError, self.nccl.ncclCommAbort(pair.one));
  MTC_OK(self.nccl.ncclCommAbort(pair.other));
  MTC_OK(self.await(self.s, 10));
  MTC_OK(self.await(second, 10));
}
MTC_PROGRAM(abortsOneByOneInOne) { abortsOneByOne(self, self.s); }
MTC_PROGRAM(abortsOneByOneInTwo) { abortsOneByOne(self, self.t); }

void abortsAtOnce(Rank &self, CUstream second) {
  Hanging pair(self, second);
  MTC_OK(self.nccl.ncclGroupStart());
  MTC_OK(self.nccl.ncclCommAbort(pair.one));
  MTC_OK(self.nccl.ncclCommAbort(pair.other));
  MTC_OK(self.nccl.ncclGroupEnd());
  MTC_OK(self.await(self.s, 10));
  MTC_OK(self.await(second, 10));
}
MTC_PROGRAM(abortsAtOnceInOne) { abortsAtOnce(self, self.s); }
MTC_PROGRAM(abortsAtOnceInTwo) { abortsAtOnce(self, self.t); }

/// Ranks that never come together.
MTC_PROGRAM(initMismatch) {
  ncclConfig_t config = configuration(false);
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

/// Each rank takes the GPU of its number.
MTC_PROGRAM(twoGpus) {
  CUcontext own = nullptr;
  int device = -1;
  MTC_OK(self.cu.cuDevicePrimaryCtxRetain(&own, self.rank));
  MTC_OK(self.cu.cuCtxSetCurrent(own));
  CUstream stream = nullptr;
  MTC_OK(self.cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ncclComm_t comm = self.communicator();
  MTC_OK(self.nccl.ncclCommCuDevice(comm, &device));
  MTC_TRUE(device == self.rank);
  CUdeviceptr x = self.empty(256);
  MTC_OK(self.cu.cuMemsetD32Async(x, 0x3f800000, 64, stream));
  // Calls make the communicator's GPU current themselves.
  MTC_OK(self.cu.cuCtxSetCurrent(self.context));
  MTC_OK(self.sum(x, 64, comm, stream));
  MTC_OK(self.cu.cuCtxSetCurrent(own));
  MTC_OK(self.cu.cuStreamSynchronize(stream));
  float found = 0;
  MTC_OK(self.cu.cuMemcpyDtoH(&found, x, 4));
  MTC_TRUE(found == 2);
  MTC_OK(self.nccl.ncclCommDestroy(comm));
}

/// A stream of one GPU with the communicator of another, and its memory.
MTC_PROGRAM(othersStream) {
  CUcontext own = nullptr;
  MTC_OK(self.cu.cuDevicePrimaryCtxRetain(&own, 1));
  CUdeviceptr x = self.floats(64, 1);
  MTC_OK(self.cu.cuCtxSetCurrent(own));
  CUstream stream = nullptr;
  MTC_OK(self.cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  ncclComm_t comm = nullptr;
  MTC_OK(self.nccl.ncclCommInitRank(&comm, 1, self.id(), 0));
  MTC_IS(ncclUnhandledCudaError, self.sum(x, 64, comm, self.s));
  MTC_OK(self.nccl.ncclAllReduce(
      reinterpret_cast<void *>(x), reinterpret_cast<void *>(x), 64, ncclFloat32,
      ncclAvg, comm, reinterpret_cast<cudaStream_t>(stream)));
  MTC_IS(CUDA_ERROR_ILLEGAL_ADDRESS, self.cu.cuStreamSynchronize(stream));
}

/// All ranks in one thread, each on a GPU of its own.
MTC_PROGRAM(allGpus) {
  constexpr int kRanks = 3;
  ncclComm_t comms[kRanks];
  MTC_IS(ncclInvalidUsage,
         self.nccl.ncclCommInitAll(comms, kRanks, std::array{0, 1, 0}.data()));
  MTC_IS(ncclInvalidArgument,
         self.nccl.ncclCommInitAll(comms, kRanks + 1, nullptr));
  MTC_OK(self.nccl.ncclCommInitAll(comms, kRanks, nullptr));
  CUdeviceptr x[kRanks];
  CUcontext contexts[kRanks];
  MTC_OK(self.nccl.ncclGroupStart());
  for (int rank = 0; rank < kRanks; ++rank) {
    MTC_OK(self.cu.cuDevicePrimaryCtxRetain(&contexts[rank], rank));
    MTC_OK(self.cu.cuCtxSetCurrent(contexts[rank]));
    CUstream stream = nullptr;
    x[rank] = self.empty(256);
    MTC_OK(self.cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MTC_OK(self.cu.cuMemsetD32Async(x[rank], 0x3f800000, 64, stream));
    MTC_OK(self.sum(x[rank], 64, comms[rank], stream));
  }
  MTC_OK(self.nccl.ncclGroupEnd());
  for (int rank = 0; rank < kRanks; ++rank) {
    float found = 0;
    MTC_OK(self.cu.cuCtxSetCurrent(contexts[rank]));
    MTC_OK(self.cu.cuCtxSynchronize());
    MTC_OK(self.cu.cuMemcpyDtoH(&found, x[rank], 4));
    MTC_TRUE(found == kRanks);
  }
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

TEST(Ranks, WhoIsLeftSeesThatAPartnerIsGone) {
  for (const char *each :
       {"partnerIsKilled", "partnerExits", "partnerAborts"}) {
    Outcome outcome = run(each);
    EXPECT_EQ(outcome.ranks[0].code, 0) << each << outcome.text();
  }
}

TEST(Ranks, AnAbortWaitsForCallsOfOtherCommunicators) {
  for (const char *each : {"abortsOneByOneInOne", "abortsOneByOneInTwo"}) {
    Outcome outcome =
        run(each, {.environment = {{"MTC_STANDIN_PATIENCE", "0.5"}}});
    EXPECT_EQ(outcome.ranks[0].code, 0) << each << outcome.text();
    EXPECT_TRUE(outcome.has(
        "ncclCommAbort of communicator 1, rank 0 of 2 waits for the GPU, on "
        "which communicator 2, rank 0 of 2 has a call; abort both in one "
        "group"))
        << each << outcome.text();
  }
}

TEST(Ranks, AGroupOfAbortsWaitsForNone) {
  for (uint64_t seed = 1; seed <= 4; ++seed)
    for (const char *each : {"abortsAtOnceInOne", "abortsAtOnceInTwo"}) {
      Outcome outcome = run(each, {.seed = seed});
      EXPECT_EQ(outcome.ranks[0].code, 0) << each << seed << outcome.text();
    }
}

TEST(Ranks, RanksThatDoNotFitNeverMeet) {
  Outcome outcome = run("initMismatch");
  EXPECT_TRUE(outcome.ended()) << outcome.text();
  EXPECT_TRUE(outcome.has("rank 0 of 2 ranks has already checked in"))
      << outcome.text();
  EXPECT_TRUE(outcome.has("mismatch in info from procs")) << outcome.text();
  outcome = run("initAlone",
                {.ranks = 1, .environment = {{"MTC_STANDIN_PATIENCE", "0.2"}}});
  EXPECT_TRUE(outcome.has("rank 1 has not come")) << outcome.text();
}

TEST(Ranks, RanksDoNotShareAGpu) {
  Outcome outcome = run("oneGpu", {.environment = {{"NCCL_HOSTID", "one"}}});
  EXPECT_TRUE(outcome.good()) << outcome.text();
}

TEST(Ranks, EachHasAGpuOfItsOwn) {
  Outcome outcome = run(
      "twoGpus",
      {.environment = {{"NCCL_HOSTID", "one"}, {"MTC_STANDIN_DEVICES", "2"}}});
  EXPECT_TRUE(outcome.good()) << outcome.text();
  outcome = run("allGpus",
                {.ranks = 1, .environment = {{"MTC_STANDIN_DEVICES", "3"}}});
  EXPECT_TRUE(outcome.good()) << outcome.text();
}

TEST(Ranks, StreamsAndMemoryAreOfTheCommunicatorsGpu) {
  Outcome outcome =
      run("othersStream",
          {.ranks = 1, .environment = {{"MTC_STANDIN_DEVICES", "2"}}});
  EXPECT_TRUE(outcome.ended()) << outcome.text();
  EXPECT_TRUE(outcome.has("is memory of device 0, which is not reached"))
      << outcome.text();
}

TEST(Ranks, RanksOfOneProcessDoIfTheyMay) {
  for (const char *each : {"oneProcess", "threads"}) {
    Outcome outcome =
        run(each, {.ranks = 1,
                   .environment = {{"MTC_STANDIN_ALLOW", "duplicate_gpu"}}});
    EXPECT_TRUE(outcome.ended()) << each << outcome.text();
  }
}

} // namespace
