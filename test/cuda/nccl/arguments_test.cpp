//===- arguments_test.cpp - what calls refuse -----------------------------===//
#include "test/cuda/nccl/harness.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <thread>

using namespace mtc::standin::nccl::test;

namespace {

struct Call {
  Rank &self;
  ncclComm_t comm;
  ncclResult_t reduce(CUdeviceptr from, CUdeviceptr to, size_t count,
                      int type = ncclFloat32, int op = ncclSum) const {
    return self.nccl.ncclAllReduce(reinterpret_cast<void *>(from),
                                   reinterpret_cast<void *>(to), count,
                                   ncclDataType_t(type), ncclRedOp_t(op), comm,
                                   reinterpret_cast<cudaStream_t>(self.s));
  }
  ncclResult_t gather(CUdeviceptr from, CUdeviceptr to, size_t count) const {
    return self.nccl.ncclAllGather(
        reinterpret_cast<void *>(from), reinterpret_cast<void *>(to), count,
        ncclFloat32, comm, reinterpret_cast<cudaStream_t>(self.s));
  }
  ncclResult_t scatter(CUdeviceptr from, CUdeviceptr to, size_t count) const {
    return self.nccl.ncclReduceScatter(
        reinterpret_cast<void *>(from), reinterpret_cast<void *>(to), count,
        ncclFloat32, ncclSum, comm, reinterpret_cast<cudaStream_t>(self.s));
  }
};

MTC_PROGRAM(values) {
  Call call{self, self.communicator()};
  CUdeviceptr x = self.floats(64, 1);
  for (int type : {-1, 12, 99})
    MTC_IS(ncclInvalidArgument, call.reduce(x, x, 16, type));
  for (int op : {-1, 5, 99})
    MTC_IS(ncclInvalidArgument, call.reduce(x, x, 16, ncclFloat32, op));
  MTC_TRUE(!std::strcmp(self.nccl.ncclGetLastError(nullptr),
                        "AllReduce : reduction operation 99 unknown to this "
                        "communicator"));
  MTC_IS(ncclInvalidArgument, call.reduce(x, x, 16, ncclFloat8e4m3, ncclAvg));
  MTC_IS(ncclUnhandledCudaError, call.reduce(x, x, SIZE_MAX));
  MTC_IS(ncclInvalidArgument, self.nccl.ncclGetUniqueId(nullptr));
  MTC_IS(ncclInvalidArgument,
         self.nccl.ncclCommGetAsyncError(call.comm, nullptr));
  MTC_IS(ncclInvalidUsage, self.nccl.ncclGroupEnd());
  self.warm(call.comm); // none of that did any harm
}

/// Buffers of calls in place have exact places.
MTC_PROGRAM(places) {
  Call call{self, self.communicator()};
  CUdeviceptr x = self.floats(256, 1), y = self.empty(1024);
  MTC_OK(call.reduce(x, x, 64));
  MTC_IS(ncclInvalidArgument, call.reduce(x, x + 16, 64));
  MTC_IS(ncclInvalidArgument, call.reduce(x + 16, x, 64));
  CUdeviceptr wrong = x + 4 * 64 * CUdeviceptr(1 - self.rank);
  CUdeviceptr right = x + 4 * 64 * CUdeviceptr(self.rank);
  MTC_IS(ncclInvalidArgument, call.gather(wrong, x, 64));
  MTC_OK(call.gather(right, x, 64));
  MTC_IS(ncclInvalidArgument, call.scatter(x, wrong, 64));
  MTC_OK(call.scatter(x, right, 64));
  // Two calls of a group run at one time.
  MTC_OK(self.nccl.ncclGroupStart());
  MTC_OK(call.reduce(x, x, 64));
  MTC_OK(call.reduce(x, y, 64));
  MTC_IS(ncclInvalidArgument, self.nccl.ncclGroupEnd());
  MTC_OK(call.reduce(x, y, 64));
  MTC_OK(self.cu.cuCtxSynchronize());
}

/// A group with a bad call does nothing; the next one does.
MTC_PROGRAM(groupWithABadCall) {
  Call call{self, self.communicator()};
  CUdeviceptr x = self.floats(64, 1);
  MTC_OK(self.nccl.ncclGroupStart());
  MTC_OK(self.nccl.ncclGroupStart());
  MTC_OK(call.reduce(x, x, 16));
  MTC_IS(ncclInvalidArgument, call.reduce(x, x, 16, 99));
  MTC_OK(self.nccl.ncclGroupEnd());
  MTC_IS(ncclInvalidArgument, self.nccl.ncclGroupEnd());
  MTC_TRUE(self.get(x, 1)[0] == 1);
  MTC_OK(call.reduce(x, x, 16));
  MTC_TRUE(self.get(x, 1)[0] == 2);
}

/// The call is taken; the device finds out, at once or with the partner there.
MTC_PROGRAM(badBuffers) {
  Call call{self, self.communicator()};
  CUdeviceptr x = self.floats(64, 1);
  self.warm(call.comm);
  const char *what = std::getenv("MTC_TEST_WHAT");
  std::string which = what ? what : "";
  CUdeviceptr host = reinterpret_cast<CUdeviceptr>(std::malloc(256));
  CUdeviceptr at = which == "null"         ? 0
                   : which == "host"       ? host
                   : which == "misaligned" ? x + 2
                                           : x;
  MTC_OK(call.reduce(at, at, which == "long" ? 65 : 16));
  CUresult result = self.cu.cuStreamSynchronize(self.s);
  MTC_TRUE(result == CUDA_ERROR_ILLEGAL_ADDRESS ||
           result == CUDA_ERROR_LAUNCH_FAILED);
  self.barrier();
}

MTC_PROGRAM(unwritten) {
  Call call{self, self.communicator()};
  CUdeviceptr x = self.empty(256);
  MTC_OK(call.reduce(x, x, 64));
  MTC_TRUE(self.cu.cuStreamSynchronize(self.s) != CUDA_SUCCESS);
  self.barrier();
}

MTC_PROGRAM(checkedPointers) {
  Call call{self, self.communicator()};
  CUdeviceptr x = self.floats(64, 1);
  MTC_OK(call.reduce(x, x, 16));
  MTC_IS(ncclInvalidArgument, call.reduce(0, x, 16));
  MTC_IS(ncclInvalidArgument, call.reduce(x, 0x1000, 16));
  MTC_IS(ncclInvalidArgument, call.reduce(0, 0, 0));
}

MTC_PROGRAM(configurations) {
  auto attempt = [&self](auto change) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    change(config);
    ncclComm_t comm = nullptr;
    return self.nccl.ncclCommInitRankConfig(&comm, 1, self.id(), 0, &config);
  };
  MTC_OK(attempt([](ncclConfig_t &c) { c.commName = "tp"; }));
  MTC_OK(attempt([](ncclConfig_t &c) { c.maxCTAs = 1; }));
  MTC_IS(ncclInvalidArgument, attempt([](ncclConfig_t &c) { c.magic = 1; }));
  MTC_IS(ncclInvalidArgument, attempt([](ncclConfig_t &c) { c.blocking = 7; }));
  MTC_IS(ncclInvalidArgument, attempt([](ncclConfig_t &c) { c.minCTAs = 0; }));
  MTC_IS(ncclInvalidUsage, attempt([](ncclConfig_t &c) { c.netName = "no"; }));
  ncclComm_t comm = nullptr;
  ncclUniqueId none{};
  MTC_IS(ncclInvalidArgument, self.nccl.ncclCommInitRank(&comm, 0, none, 0));
  MTC_IS(ncclInvalidArgument, self.nccl.ncclCommInitRank(&comm, 1, none, 1));
}

MTC_PROGRAM(badIds) {
  ncclUniqueId id = self.id(), none{};
  ncclComm_t comm = nullptr;
  MTC_IS(ncclSystemError, self.nccl.ncclCommInitRank(&comm, 1, none, 0));
  MTC_OK(self.nccl.ncclCommInitRank(&comm, 1, id, 0));
  MTC_IS(ncclSystemError, self.nccl.ncclCommInitRank(&comm, 1, id, 0));
}

MTC_PROGRAM(memory) {
  void *memory = nullptr, *handle = nullptr;
  ncclComm_t comm = self.communicator();
  MTC_OK(self.nccl.ncclMemAlloc(&memory, 4096));
  MTC_OK(self.nccl.ncclCommRegister(comm, memory, 4096, &handle));
  MTC_IS(ncclInvalidUsage, self.nccl.ncclMemFree(memory));
  MTC_OK(self.nccl.ncclCommDeregister(comm, handle));
  MTC_IS(ncclInvalidArgument, self.nccl.ncclCommDeregister(comm, handle));
  ncclComm_t other = nullptr;
  MTC_OK(self.nccl.ncclCommSplit(comm, 0, 0, &other, nullptr));
  MTC_OK(self.nccl.ncclCommRegister(other, memory, 4096, &handle));
  MTC_IS(ncclInvalidUsage, self.nccl.ncclMemFree(memory));
  MTC_OK(self.nccl.ncclCommDestroy(other));
  MTC_OK(self.nccl.ncclMemFree(memory));
  MTC_IS(ncclUnhandledCudaError, self.nccl.ncclMemFree(memory));
  memory = reinterpret_cast<void *>(self.empty(64));
  MTC_IS(ncclUnhandledCudaError, self.nccl.ncclMemFree(memory));
  MTC_IS(ncclInvalidUsage, self.nccl.ncclCommRevoke(comm, 0));
}

/// A communicator is of one thread at a time: the first that calls waits for
/// rank 1, which comes once the second was refused.
MTC_PROGRAM(twoThreads) {
  Call call{self, self.communicator()};
  CUdeviceptr x = self.floats(64, 1);
  auto attempt = [&] {
    ncclResult_t result = call.reduce(x, x, 64);
    if (result == ncclInvalidUsage)
      self.barrier();
    else
      MTC_OK(result);
  };
  if (self.rank) {
    self.barrier();
    MTC_OK(call.reduce(x, x, 64));
  } else {
    std::thread one(attempt), other(attempt);
    one.join();
    other.join();
  }
  MTC_OK(self.cu.cuCtxSynchronize());
}

TEST(Arguments, AreRefusedAsByTheRealOne) {
  for (const char *each : {"values", "groupWithABadCall"}) {
    Outcome outcome = run(each);
    EXPECT_TRUE(outcome.good()) << each << outcome.text();
  }
  Outcome outcome = run("configurations", {.ranks = 1});
  EXPECT_TRUE(outcome.good()) << outcome.text();
  outcome = run("checkedPointers",
                {.ranks = 1, .environment = {{"NCCL_CHECK_POINTERS", "1"}}});
  EXPECT_TRUE(outcome.good()) << outcome.text();
}

TEST(Arguments, BuffersLieApartOrInPlace) {
  Outcome outcome = run("places");
  EXPECT_TRUE(outcome.ended()) << outcome.text();
  EXPECT_TRUE(outcome.has("its buffers overlap")) << outcome.text();
  EXPECT_TRUE(outcome.has("of its group touches")) << outcome.text();
}

TEST(Arguments, BadBuffersAreFaultsOfTheDevice) {
  for (const char *each : {"null", "host", "misaligned", "long"}) {
    Outcome outcome =
        run("badBuffers", {.environment = {{"MTC_TEST_WHAT", each}}});
    EXPECT_TRUE(outcome.ended()) << each << outcome.text();
    EXPECT_TRUE(outcome.has("ncclAllReduce of")) << each << outcome.text();
  }
  Outcome outcome = run("unwritten");
  EXPECT_TRUE(outcome.ended()) << outcome.text();
}

TEST(Arguments, AnIdIsUsedOnce) {
  Outcome outcome = run("badIds", {.ranks = 1});
  EXPECT_TRUE(outcome.ended()) << outcome.text();
  EXPECT_TRUE(outcome.has("all ranks had come")) << outcome.text();
}

TEST(Arguments, MemoryIsGivenBackOnce) {
  Outcome outcome = run("memory", {.ranks = 1});
  EXPECT_TRUE(outcome.ended()) << outcome.text();
  EXPECT_TRUE(outcome.has("was given back")) << outcome.text();
  EXPECT_TRUE(outcome.has("ncclMemFree of memory that is registered with "
                          "communicator 2"))
      << outcome.text();
  EXPECT_TRUE(outcome.has("ncclCommRevoke is not in the stand-in"))
      << outcome.text();
}

TEST(Arguments, OneThreadAtATime) {
  Outcome outcome = run("twoThreads");
  EXPECT_TRUE(outcome.ended()) << outcome.text();
  EXPECT_TRUE(outcome.has("two threads at once")) << outcome.text();
}

} // namespace
