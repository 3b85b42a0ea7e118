//===- state_test.cpp - what a communicator takes when --------------------===//
#include "test/cuda/nccl/harness.h"

#include <gtest/gtest.h>

#include <thread>
#include <unistd.h>

using namespace mtc::standin::nccl::test;

namespace {

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
  ncclConfig_t config = configuration(false);
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
  ncclConfig_t config = configuration(false);
  ncclComm_t comm = nullptr;
  MTC_IS(ncclInProgress, self.nccl.ncclCommInitRankConfig(
                             &comm, self.size, self.id(), self.rank, &config));
  CUdeviceptr x = self.floats(64, 1);
  MTC_IS(ncclInvalidArgument, self.sum(x, 64, comm, self.s));
  MTC_OK(self.settle(comm));
}

/// One bad argument, and it is of no use any more.
MTC_PROGRAM(nonblockingError) {
  ncclConfig_t config = configuration(false);
  ncclComm_t comm = nullptr;
  self.nccl.ncclCommInitRankConfig(&comm, self.size, self.id(), self.rank,
                                   &config);
  MTC_OK(self.settle(comm));
  CUdeviceptr x = self.floats(64, 1);
  auto *at = reinterpret_cast<void *>(x);
  auto stream = reinterpret_cast<cudaStream_t>(self.s);
  MTC_IS(ncclInvalidArgument,
         self.nccl.ncclAllReduce(at, at, 64, ncclDataType_t(99), ncclSum, comm,
                                 stream));
  MTC_IS(ncclInvalidArgument, self.asyncError(comm));
  MTC_IS(ncclInvalidArgument, self.sum(x, 64, comm, self.s));
  MTC_IS(ncclInvalidArgument, self.nccl.ncclCommDestroy(comm));
  MTC_OK(self.nccl.ncclCommAbort(comm));
}

TEST(State, StaleHandlesAreRefused) {
  Outcome outcome = run("stale");
  EXPECT_TRUE(outcome.ended()) << outcome.text();
  EXPECT_TRUE(outcome.has("communicator 1, rank 0 of 2, which was aborted"))
      << outcome.text();
  EXPECT_TRUE(outcome.has("communicator 2, rank 1 of 2, which was destroyed"))
      << outcome.text();
}

TEST(State, AnAbortEndsACallThatBlocks) {
  Outcome outcome = run("abortedInACall");
  EXPECT_TRUE(outcome.good()) << outcome.text();
}

TEST(State, WithoutBlockingTheStateIsToBeAsked) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    Outcome outcome = run("nonblockingCalls", {.seed = seed});
    EXPECT_TRUE(outcome.good()) << seed << outcome.text();
  }
  Outcome haste = run("nonblockingHaste"), error = run("nonblockingError");
  EXPECT_TRUE(haste.ended()) << haste.text();
  EXPECT_TRUE(haste.has("before the previous operation returned"))
      << haste.text();
  EXPECT_TRUE(error.ended()) << error.text();
}

} // namespace
