//===- transfers_test.cpp - sends and receives ----------------------------===//
#include "test/cuda/nccl/harness.h"

#include <gtest/gtest.h>

using namespace mtc::standin::nccl::test;

namespace {

ncclResult_t send(Rank &self, CUdeviceptr x, size_t count, int to,
                  ncclComm_t comm) {
  return self.nccl.ncclSend(reinterpret_cast<void *>(x), count, ncclFloat32, to,
                            comm, reinterpret_cast<cudaStream_t>(self.s));
}

ncclResult_t receive(Rank &self, CUdeviceptr x, size_t count, int from,
                     ncclComm_t comm) {
  return self.nccl.ncclRecv(reinterpret_cast<void *>(x), count, ncclFloat32,
                            from, comm, reinterpret_cast<cudaStream_t>(self.s));
}

constexpr size_t kCount = 5000;

/// A ring, both ways, grouped, then with itself, and nothing at all.
MTC_PROGRAM(exchanges) {
  ncclComm_t comm = self.communicator();
  int next = (self.rank + 1) % self.size;
  int before = (self.rank + self.size - 1) % self.size;
  CUdeviceptr x = self.floats(kCount, float(self.rank));
  CUdeviceptr up = self.empty(4 * kCount), down = self.empty(4 * kCount);
  MTC_OK(self.nccl.ncclGroupStart());
  MTC_OK(send(self, x, kCount, next, comm));
  MTC_OK(send(self, x, kCount, before, comm));
  MTC_OK(receive(self, up, kCount, before, comm));
  MTC_OK(receive(self, down, kCount, next, comm));
  MTC_OK(self.nccl.ncclGroupEnd());
  for (float each : self.get(up, kCount))
    MTC_TRUE(each == float(before));
  for (float each : self.get(down, kCount))
    MTC_TRUE(each == float(next));
  MTC_OK(self.nccl.ncclGroupStart());
  MTC_OK(send(self, x, 16, self.rank, comm));
  MTC_OK(receive(self, up, 16, self.rank, comm));
  MTC_OK(send(self, 0, 0, next, comm));
  MTC_OK(receive(self, 0, 0, before, comm));
  MTC_OK(self.nccl.ncclGroupEnd());
  MTC_TRUE(self.get(up, 1)[0] == float(self.rank));
  MTC_OK(self.nccl.ncclCommDestroy(comm));
}

/// One way, not grouped, as along a pipeline; the order of a pair is kept.
MTC_PROGRAM(pipeline) {
  ncclComm_t comm = self.communicator();
  for (int round = 0; round < 4; ++round) {
    CUdeviceptr x = self.floats(kCount, float(round));
    if (self.rank)
      MTC_OK(receive(self, x, kCount, self.rank - 1, comm));
    if (self.rank + 1 < self.size)
      MTC_OK(send(self, x, kCount, self.rank + 1, comm));
    MTC_TRUE(self.get(x, kCount)[kCount - 1] == float(round));
  }
}

MTC_PROGRAM(withAllReduce) {
  ncclComm_t comm = self.communicator();
  CUdeviceptr x = self.floats(64, 1), y = self.floats(64, float(self.rank));
  CUdeviceptr z = self.empty(256);
  for (int round = 0; round < 2; ++round) {
    MTC_OK(self.nccl.ncclGroupStart());
    MTC_OK(self.sum(x, 64, comm, self.s));
    MTC_OK(send(self, y, 64, 1 - self.rank, comm));
    MTC_OK(receive(self, z, 64, 1 - self.rank, comm));
    MTC_OK(self.nccl.ncclGroupEnd());
  }
  MTC_TRUE(self.get(x, 1)[0] == 4 && self.get(z, 1)[0] == float(1 - self.rank));
}

/// Warm, as the real library lets it pass.
MTC_PROGRAM(ungrouped) {
  ncclComm_t comm = self.communicator();
  int other = 1 - self.rank;
  CUdeviceptr x = self.floats(4, 1), y = self.empty(16);
  MTC_OK(self.nccl.ncclGroupStart());
  MTC_OK(send(self, x, 4, other, comm));
  MTC_OK(receive(self, y, 4, other, comm));
  MTC_OK(self.nccl.ncclGroupEnd());
  MTC_OK(self.cu.cuStreamSynchronize(self.s));
  self.barrier();
  MTC_OK(send(self, x, 4, other, comm));
  MTC_OK(receive(self, y, 4, other, comm));
  MTC_IS(CUDA_ERROR_LAUNCH_TIMEOUT, self.cu.cuStreamSynchronize(self.s));
}

/// The first calls make connections, in the call.
MTC_PROGRAM(coldUngrouped) {
  ncclComm_t comm = self.communicator();
  CUdeviceptr x = self.floats(4, 1);
  MTC_IS(ncclInternalError, send(self, x, 4, 1 - self.rank, comm));
}

MTC_PROGRAM(alone) {
  ncclComm_t comm = self.communicator();
  CUdeviceptr x = self.floats(4, 1);
  MTC_IS(ncclInvalidUsage, send(self, x, 4, self.rank, comm));
  MTC_IS(ncclInvalidUsage, receive(self, x, 4, self.rank, comm));
  MTC_IS(ncclInvalidArgument, send(self, x, 4, self.size, comm));
  MTC_OK(self.nccl.ncclGroupStart());
  MTC_OK(send(self, x, 4, self.rank, comm));
  MTC_IS(ncclInvalidUsage, self.nccl.ncclGroupEnd());
}

TEST(Transfers, GroupsExchange) {
  for (int ranks : {1, 2, 3, 8})
    for (uint64_t seed : {1, 2}) {
      Outcome outcome = run("exchanges", {.ranks = ranks, .seed = seed});
      EXPECT_TRUE(outcome.good()) << ranks << outcome.text();
    }
}

TEST(Transfers, OneWayNeedsNoGroup) {
  Outcome outcome = run("pipeline", {.ranks = 4});
  EXPECT_TRUE(outcome.good()) << outcome.text();
}

TEST(Transfers, GoWithACollective) {
  Outcome outcome = run("withAllReduce");
  EXPECT_TRUE(outcome.good()) << outcome.text();
}

TEST(Transfers, BothWaysWithoutAGroupHang) {
  Setting setting{.environment = {{"MTC_STANDIN_PATIENCE", "1"},
                                  {"MTC_STANDIN_HANG", "0.5"}}};
  World warm("ungrouped", setting), cold("coldUngrouped", setting);
  Outcome outcome = warm.outcome();
  EXPECT_TRUE(outcome.ended()) << outcome.text();
  EXPECT_TRUE(outcome.has("ncclSend of 4 f32 to 1 waits for rank 1"))
      << outcome.text();
  EXPECT_TRUE(outcome.has("ncclSend of 4 f32 to 0 in stream 1"))
      << outcome.text();
  outcome = cold.outcome();
  EXPECT_TRUE(outcome.ended()) << outcome.text();
  EXPECT_TRUE(outcome.has("the first ncclSend of 4 f32 to 1"))
      << outcome.text();
}

TEST(Transfers, ToOneselfNeedTheOtherEnd) {
  Outcome outcome = run("alone", {.ranks = 1});
  EXPECT_TRUE(outcome.good()) << outcome.text();
}

} // namespace
