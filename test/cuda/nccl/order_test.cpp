//===- order_test.cpp - several communicators, several streams ------------===//
#include "test/cuda/nccl/harness.h"

#include <gtest/gtest.h>

#include <deque>

using namespace mtc::standin::nccl::test;

namespace {

/// Behind all that is in `earlier`.
void order(Rank &self, CUstream earlier, CUstream later) {
  CUevent point = nullptr;
  MTC_OK(self.cu.cuEventCreate(&point, CU_EVENT_DISABLE_TIMING));
  MTC_OK(self.cu.cuEventRecord(point, earlier));
  MTC_OK(self.cu.cuStreamWaitEvent(later, point, 0));
}

struct Two {
  ncclComm_t one, other;
  CUdeviceptr x, y;
};

Two two(Rank &self) {
  Two made{self.communicator(), self.communicator(), self.floats(64, 1),
           self.floats(64, 1)};
  self.warm(made.one);
  self.warm(made.other);
  return made;
}

/// Both ranks alike, ordered by events: good under every seed.
MTC_PROGRAM(sameOrder) {
  Two pair = two(self);
  for (int round = 0; round < 3; ++round) {
    MTC_OK(self.sum(pair.x, 64, pair.one, self.s));
    order(self, self.s, self.t);
    MTC_OK(self.sum(pair.y, 64, pair.other, self.t));
    order(self, self.t, self.s);
  }
  MTC_TRUE(self.get(pair.x, 1)[0] == 8 && self.get(pair.y, 1)[0] == 8);
}

/// Two streams that nothing orders, the same order of calls.
MTC_PROGRAM(implicitOrder) {
  Two pair = two(self);
  for (int round = 0; round < 3; ++round) {
    MTC_OK(self.sum(pair.x, 64, pair.one, self.s));
    MTC_OK(self.sum(pair.y, 64, pair.other, self.t));
  }
  MTC_TRUE(self.get(pair.x, 1)[0] == 8 && self.get(pair.y, 1)[0] == 8);
}

void opposite(Rank &self, CUstream s, CUstream t) {
  Two pair = two(self);
  bool first = self.rank == 0;
  MTC_OK(self.sum(first ? pair.x : pair.y, 64, first ? pair.one : pair.other,
                  first ? s : t));
  MTC_OK(self.sum(first ? pair.y : pair.x, 64, first ? pair.other : pair.one,
                  first ? t : s));
  MTC_IS(CUDA_ERROR_LAUNCH_TIMEOUT, self.cu.cuCtxSynchronize());
}
MTC_PROGRAM(oppositeInOne) { opposite(self, self.s, self.s); }
MTC_PROGRAM(oppositeInTwo) { opposite(self, self.s, self.t); }

/// One communicator in two streams: its calls are in their order.
MTC_PROGRAM(oneInTwo) {
  ncclComm_t comm = self.communicator();
  CUdeviceptr x = self.floats(64, 1), y = self.floats(64, 1);
  self.warm(comm);
  for (int round = 0; round < 3; ++round) {
    MTC_OK(self.sum(x, 64, comm, self.s));
    MTC_OK(self.sum(y, 64, comm, self.rank ? self.s : self.t));
  }
  MTC_TRUE(self.get(x, 1)[0] == 8 && self.get(y, 1)[0] == 8);
}

/// A group with two streams is one operation, ordered with both.
MTC_PROGRAM(groupInTwo) {
  ncclComm_t comm = self.communicator();
  CUdeviceptr x = self.floats(64, 1), y = self.empty(256);
  MTC_OK(self.cu.cuMemsetD32Async(y, 0x3f800000, 64, self.t));
  MTC_OK(self.nccl.ncclGroupStart());
  MTC_OK(self.sum(x, 64, comm, self.s));
  MTC_OK(self.sum(y, 64, comm, self.t));
  MTC_OK(self.nccl.ncclGroupEnd());
  MTC_OK(self.cu.cuMemsetD32Async(x, 0, 64, self.s));
  MTC_OK(self.cu.cuMemsetD32Async(y, 0, 64, self.t));
  MTC_OK(self.cu.cuCtxSynchronize());
}

/// What reads the result has to wait for it.
void consume(Rank &self, bool waits) {
  ncclComm_t comm = self.communicator();
  CUdeviceptr x = self.floats(64, 1);
  MTC_OK(self.sum(x, 64, comm, self.s));
  if (waits)
    order(self, self.s, self.t);
  MTC_OK(self.cu.cuMemsetD32Async(x, 0, 64, self.t));
  MTC_IS(waits ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED,
         self.cu.cuCtxSynchronize());
  self.barrier();
}
MTC_PROGRAM(consumes) { consume(self, true); }
MTC_PROGRAM(consumesEarly) { consume(self, false); }

TEST(Order, RightProgramsEndUnderEverySeed) {
  for (uint64_t seed = 1; seed <= 4; ++seed)
    for (const char *each :
         {"sameOrder", "oneInTwo", "groupInTwo", "consumes"}) {
      Outcome outcome = run(each, {.seed = seed});
      EXPECT_TRUE(outcome.good()) << each << seed << outcome.text();
    }
}

TEST(Order, OfCallsHoldsWithImplicitLaunchOrder) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    Outcome outcome = run(
        "implicitOrder",
        {.seed = seed, .environment = {{"NCCL_LAUNCH_ORDER_IMPLICIT", "1"}}});
    EXPECT_TRUE(outcome.good()) << seed << outcome.text();
  }
}

TEST(Order, OppositeOnesDeadlock) {
  Setting setting{.environment = {{"MTC_STANDIN_PATIENCE", "1"},
                                  {"MTC_STANDIN_HANG", "0.5"}}};
  Setting implicit = setting;
  implicit.seed = 2;
  implicit.environment.emplace("NCCL_LAUNCH_ORDER_IMPLICIT", "1");
  World one("oppositeInOne", setting), two("oppositeInTwo", setting),
      third("oppositeInTwo", implicit);
  for (World *each : {&one, &two, &third}) {
    Outcome outcome = each->outcome();
    EXPECT_TRUE(outcome.ended()) << outcome.text();
    EXPECT_TRUE(outcome.has("a wait that does not end")) << outcome.text();
    EXPECT_TRUE(outcome.has("waits for rank 1")) << outcome.text();
    EXPECT_TRUE(outcome.has("waits for rank 0")) << outcome.text();
  }
}

TEST(Order, AResultReadTooEarlyIsARace) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    Outcome outcome = run("consumesEarly", {.seed = seed});
    EXPECT_TRUE(outcome.has("ncclAllReduce of 64 f32, sum in stream 1"))
        << seed << outcome.text();
    EXPECT_TRUE(outcome.has("memset")) << outcome.text();
  }
}

} // namespace
