//===- mismatch_test.cpp - ranks that disagree ----------------------------===//
//
// The real library hangs, or gives wrong values and says nothing. Here the
// calls never end, until an abort, and both are named.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/nccl/harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

using namespace mtc::standin::nccl::test;

namespace {

struct Buffers {
  Rank &self;
  ncclComm_t comm;
  void *x, *y;
  cudaStream_t stream;
};

/// A warm communicator and buffers; `call` is made, hangs, and is aborted.
void hang(Rank &self, ncclResult_t (*call)(const Buffers &)) {
  ncclComm_t comm = self.communicator();
  CUdeviceptr x = self.floats(4000, 1), y = self.floats(8000, 0);
  self.warm(comm);
  MTC_OK(call({self, comm, reinterpret_cast<void *>(x),
               reinterpret_cast<void *>(y),
               reinterpret_cast<cudaStream_t>(self.s)}));
  MTC_IS(CUDA_ERROR_NOT_READY, self.await(self.s, 0.6));
  MTC_OK(self.asyncError(comm));
  self.barrier();
  MTC_OK(self.nccl.ncclCommAbort(comm));
  MTC_OK(self.await(self.s, 10));
}

#define MTC_HANG(name, call)                                                   \
  MTC_PROGRAM(name) {                                                          \
    hang(self, [](const Buffers &b) -> ncclResult_t {                          \
      [[maybe_unused]] bool first = b.self.rank == 0;                          \
      return call;                                                             \
    });                                                                        \
  }

#define MTC_ALL_REDUCE(count, type, op)                                        \
  b.self.nccl.ncclAllReduce(b.x, b.y, count, type, op, b.comm, b.stream)

MTC_HANG(counts, MTC_ALL_REDUCE(first ? 1000 : 2000, ncclFloat32, ncclSum))
MTC_HANG(types, MTC_ALL_REDUCE(1000, first ? ncclFloat32 : ncclInt32, ncclSum))
MTC_HANG(ops, MTC_ALL_REDUCE(1000, ncclFloat32, first ? ncclSum : ncclMax))
MTC_HANG(kinds, first ? MTC_ALL_REDUCE(1000, ncclFloat32, ncclSum)
                      : b.self.nccl.ncclAllGather(b.x, b.y, 1000, ncclFloat32,
                                                  b.comm, b.stream))
MTC_HANG(roots, b.self.nccl.ncclBroadcast(b.x, b.y, 1000, ncclFloat32,
                                          b.self.rank, b.comm, b.stream))
MTC_HANG(lengths,
         first
             ? b.self.nccl.ncclSend(b.x, 100, ncclFloat32, 1, b.comm, b.stream)
             : b.self.nccl.ncclRecv(b.y, 200, ncclFloat32, 0, b.comm, b.stream))
MTC_HANG(swapped, (MTC_ALL_REDUCE(first ? 1000 : 2000, ncclFloat32, ncclSum),
                   MTC_ALL_REDUCE(first ? 2000 : 1000, ncclFloat32, ncclSum)))

/// The same calls, once in a group and once not.
MTC_PROGRAM(groups) {
  hang(self, [](const Buffers &b) -> ncclResult_t {
    bool first = b.self.rank == 0;
    if (first)
      MTC_OK(b.self.nccl.ncclGroupStart());
    MTC_OK(MTC_ALL_REDUCE(1000, ncclFloat32, ncclSum));
    MTC_OK(b.self.nccl.ncclAllReduce(b.x, static_cast<float *>(b.y) + 4000,
                                     1000, ncclFloat32, ncclSum, b.comm,
                                     b.stream));
    return first ? b.self.nccl.ncclGroupEnd() : ncclSuccess;
  });
}

/// What NCCL may then exchange without a copy has to be so for all: `mine` is
/// where this rank's buffer begins in what it registers; -1: it does not.
void registered(Rank &self, int64_t mine) {
  constexpr size_t kBytes = 1 << 16;
  ncclComm_t comm = self.communicator();
  void *memory = nullptr, *handle = nullptr;
  MTC_OK(self.nccl.ncclMemAlloc(&memory, kBytes));
  MTC_OK(self.cu.cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(memory), 0,
                                 kBytes, self.s));
  self.warm(comm);
  if (mine >= 0)
    MTC_OK(self.nccl.ncclCommRegister(comm, memory, kBytes, &handle));
  auto *at = static_cast<std::byte *>(memory) + std::max<int64_t>(mine, 0);
  auto stream = reinterpret_cast<cudaStream_t>(self.s);
  MTC_OK(self.nccl.ncclAllGather(at + 400 * self.rank, at, 100, ncclFloat32,
                                 comm, stream));
  MTC_IS(CUDA_ERROR_NOT_READY, self.await(self.s, 0.6));
  self.barrier();
  MTC_OK(self.nccl.ncclCommAbort(comm));
  MTC_OK(self.await(self.s, 10));
}
MTC_PROGRAM(registeredElsewhere) { registered(self, self.rank ? 4096 : 0); }
MTC_PROGRAM(registeredOnOne) { registered(self, self.rank ? 512 : -1); }

/// Of two ranks one leaves a call out; which heads wait is told.
MTC_PROGRAM(leftOut) {
  ncclComm_t comm = self.communicator();
  self.warm(comm);
  CUdeviceptr x = self.floats(8, 1);
  if (self.rank == 0) {
    MTC_OK(self.sum(x, 8, comm, self.t));
    MTC_IS(CUDA_ERROR_LAUNCH_TIMEOUT, self.cu.cuStreamSynchronize(self.t));
  }
  self.barrier();
}

/// No elements: nobody waits, and the other rank's call is named nonetheless.
MTC_PROGRAM(nothing) {
  ncclComm_t comm = self.communicator();
  self.warm(comm);
  CUdeviceptr x = self.floats(8, 1);
  MTC_OK(self.sum(x, self.rank ? 0 : 8, comm, self.s));
  if (self.rank)
    MTC_OK(self.await(self.s, 10));
  self.barrier();
  if (self.rank == 0)
    MTC_IS(CUDA_ERROR_NOT_READY, self.await(self.s, 0.6));
  self.barrier();
}

struct MismatchCase {
  const char *program;
  std::vector<std::string> said;
};

const std::vector<MismatchCase> kCases = {
    {"counts", {"of 1000 f32, sum", "of 2000 f32, sum"}},
    {"types", {"of 1000 f32, sum", "of 1000 i32, sum"}},
    {"ops", {"of 1000 f32, sum", "of 1000 f32, max"}},
    {"kinds", {"ncclAllReduce of 1000", "ncclAllGather of 1000"}},
    {"roots", {"of 1000 f32 from 0", "of 1000 f32 from 1"}},
    {"lengths", {"ncclSend of 100 f32", "ncclRecv of 200 f32"}},
    {"swapped", {"of 1000 f32, sum", "of 2000 f32, sum"}},
    {"groups", {"1 of 2 in a group"}},
    {"registeredElsewhere",
     {"of 100 f32, from byte 0 of registered memory on",
      "of 100 f32, from byte 4096 of registered memory on"}},
    {"registeredOnOne",
     {"ncclAllGather of 100 f32, from byte 512 of registered memory on"}},
    {"nothing", {"of 8 f32, sum", "of 0 f32, sum"}}};

TEST(Mismatch, NamesBothCalls) {
  std::deque<World> worlds;
  for (const MismatchCase &each : kCases)
    worlds.emplace_back(each.program, Setting{});
  for (size_t k = 0; k < kCases.size(); ++k) {
    Outcome outcome = worlds[k].outcome();
    EXPECT_TRUE(outcome.ended()) << kCases[k].program << outcome.text();
    EXPECT_TRUE(outcome.has("ranks disagree in communicator 1"))
        << kCases[k].program << outcome.text();
    for (const std::string &each : kCases[k].said)
      EXPECT_TRUE(outcome.has(each)) << each << outcome.text();
  }
}

TEST(Mismatch, ACallLeftOutIsAHang) {
  Outcome outcome =
      run("leftOut", {.environment = {{"MTC_STANDIN_PATIENCE", "1"},
                                      {"MTC_STANDIN_HANG", "0.5"}}});
  EXPECT_TRUE(outcome.ended()) << outcome.text();
  EXPECT_TRUE(outcome.has("ncclAllReduce of 8 f32, sum waits for rank 1"))
      << outcome.text();
  EXPECT_TRUE(outcome.has("ncclAllReduce of 8 f32, sum in stream 2"))
      << outcome.text();
}

} // namespace
