//===- capture_test.cpp - graphs with collectives -------------------------===//
#include "test/cuda/nccl/harness.h"

#include <gtest/gtest.h>

using namespace mtc::standin::nccl::test;

namespace {

constexpr auto kLocal = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;

CUgraphExec instantiate(Rank &self, CUstream stream, size_t nodes) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  size_t found = 0;
  MTC_OK(self.cu.cuStreamEndCapture(stream, &graph));
  MTC_OK(self.cu.cuGraphGetNodes(graph, nullptr, &found));
  MTC_IS(nodes, found);
  MTC_OK(self.cu.cuGraphInstantiate(&exec, graph, 0));
  return exec;
}

/// A graph, also as the first call ever, launched often; then a call outside.
MTC_PROGRAM(replays) {
  ncclComm_t comm = self.communicator();
  CUdeviceptr x = self.floats(64, 1), y = self.floats(64, 1);
  MTC_OK(self.cu.cuStreamBeginCapture(self.s, kLocal));
  MTC_OK(self.sum(x, 64, comm, self.s));
  MTC_OK(self.nccl.ncclGroupStart());
  MTC_OK(self.sum(y, 64, comm, self.s));
  MTC_OK(self.sum(x, 64, comm, self.s));
  MTC_OK(self.nccl.ncclGroupEnd());
  CUgraphExec exec = instantiate(self, self.s, 2);
  for (int round = 0; round < 3; ++round)
    MTC_OK(self.cu.cuGraphLaunch(exec, self.s));
  MTC_OK(self.sum(x, 64, comm, self.s));
  MTC_TRUE(self.get(x, 1)[0] == 128 && self.get(y, 1)[0] == 8);
}

/// One rank captures, the other calls.
MTC_PROGRAM(mixed) {
  ncclComm_t comm = self.communicator();
  CUdeviceptr x = self.floats(64, 1);
  self.warm(comm);
  if (self.rank) {
    MTC_OK(self.cu.cuStreamBeginCapture(self.s, kLocal));
    MTC_OK(self.sum(x, 64, comm, self.s));
    MTC_OK(self.cu.cuGraphLaunch(instantiate(self, self.s, 1), self.s));
  } else {
    MTC_OK(self.sum(x, 64, comm, self.s));
  }
  MTC_TRUE(self.get(x, 1)[0] == 2);
}

/// A graph takes no pieces of its own that are not launched.
MTC_PROGRAM(oneRank) {
  ncclComm_t comm = self.communicator();
  CUdeviceptr x = self.floats(64, 1), y = self.empty(256);
  auto *from = reinterpret_cast<void *>(x), *to = reinterpret_cast<void *>(y);
  auto stream = reinterpret_cast<cudaStream_t>(self.s);
  MTC_OK(self.cu.cuStreamBeginCapture(self.s, kLocal));
  MTC_OK(self.sum(x, 64, comm, self.s));
  MTC_OK(self.nccl.ncclAllReduce(from, to, 64, ncclFloat32, ncclSum, comm,
                                 stream));
  MTC_OK(
      self.nccl.ncclAllReduce(to, to, 64, ncclFloat32, ncclAvg, comm, stream));
  MTC_OK(self.cu.cuGraphLaunch(instantiate(self, self.s, 2), self.s));
  MTC_TRUE(self.get(y, 1)[0] == 1);
}

/// A call outside, of a communicator that captures, ends the capture.
MTC_PROGRAM(bothWays) {
  ncclComm_t comm = self.communicator();
  CUdeviceptr x = self.floats(64, 1), y = self.floats(64, 1);
  CUgraph graph = nullptr;
  self.warm(comm);
  MTC_OK(self.cu.cuStreamBeginCapture(self.s, kLocal));
  MTC_OK(self.sum(x, 64, comm, self.s));
  MTC_OK(self.sum(y, 64, comm, self.t));
  MTC_IS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
         self.cu.cuStreamEndCapture(self.s, &graph));
  MTC_OK(self.cu.cuStreamSynchronize(self.t));
}

MTC_PROGRAM(madeInside) {
  ncclUniqueId id = self.id();
  ncclComm_t comm = nullptr;
  CUgraph graph = nullptr;
  MTC_OK(self.cu.cuStreamBeginCapture(self.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
  MTC_IS(ncclUnhandledCudaError, self.nccl.ncclCommInitRank(&comm, 1, id, 0));
  MTC_IS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
         self.cu.cuStreamEndCapture(self.s, &graph));
  id = self.id();
  MTC_OK(self.cu.cuStreamBeginCapture(self.s, CU_STREAM_CAPTURE_MODE_RELAXED));
  MTC_OK(self.nccl.ncclCommInitRank(&comm, 1, id, 0));
  instantiate(self, self.s, 0);
}

/// What a graph names has to live when it is launched.
MTC_PROGRAM(freedBuffer) {
  ncclComm_t comm = self.communicator();
  CUdeviceptr x = self.floats(64, 1);
  MTC_OK(self.cu.cuStreamBeginCapture(self.s, kLocal));
  MTC_OK(self.sum(x, 64, comm, self.s));
  CUgraphExec exec = instantiate(self, self.s, 1);
  MTC_OK(self.cu.cuMemFree(x));
  MTC_OK(self.cu.cuGraphLaunch(exec, self.s));
  MTC_IS(CUDA_ERROR_ILLEGAL_ADDRESS, self.cu.cuStreamSynchronize(self.s));
}

MTC_PROGRAM(destroyedCommunicator) {
  ncclComm_t comm = self.communicator();
  CUdeviceptr x = self.floats(64, 1);
  MTC_OK(self.cu.cuStreamBeginCapture(self.s, kLocal));
  MTC_OK(self.sum(x, 64, comm, self.s));
  CUgraphExec exec = instantiate(self, self.s, 1);
  MTC_OK(self.nccl.ncclCommDestroy(comm));
  MTC_OK(self.cu.cuGraphLaunch(exec, self.s));
  MTC_IS(CUDA_ERROR_LAUNCH_FAILED, self.cu.cuStreamSynchronize(self.s));
}

TEST(Capture, GraphsAreLaunchedOften) {
  for (uint64_t seed = 1; seed <= 3; ++seed)
    for (const char *each : {"replays", "mixed"}) {
      Outcome outcome = run(each, {.seed = seed});
      EXPECT_TRUE(outcome.good()) << each << seed << outcome.text();
    }
}

TEST(Capture, OfOneRankIsCopies) {
  Outcome outcome = run("oneRank", {.ranks = 1});
  EXPECT_TRUE(outcome.good()) << outcome.text();
}

TEST(Capture, ForbidsANewCommunicatorByItsMode) {
  Outcome outcome = run("madeInside", {.ranks = 1});
  EXPECT_TRUE(outcome.good()) << outcome.text();
}

TEST(Capture, EndsWithACallOutside) {
  Outcome outcome = run("bothWays");
  EXPECT_TRUE(outcome.good()) << outcome.text();
}

TEST(Capture, KeepsNothingAlive) {
  Outcome outcome = run("freedBuffer");
  EXPECT_TRUE(outcome.ended()) << outcome.text();
  EXPECT_TRUE(outcome.has("ncclAllReduce of 64 f32, sum")) << outcome.text();
  outcome = run("destroyedCommunicator");
  EXPECT_TRUE(outcome.ended()) << outcome.text();
  EXPECT_TRUE(outcome.has("which is gone")) << outcome.text();
}

} // namespace
