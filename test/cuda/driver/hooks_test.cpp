//===- hooks_test.cpp - operations of other stand-ins ---------------------===//
#include "test/cuda/driver/harness.h"
#include "test/cuda/driver/hooks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

using namespace mtc::standin::test;

namespace {

/// Doubles a float, at the third try.
struct Double {
  CUdeviceptr at;
  CUdeviceptr asked; ///< the address that the step asks for
  int tries = 0;
};

MtcStandinProgress step(MtcStandinPhase phase, void *arguments) {
  auto &self = *static_cast<Double *>(arguments);
  note(phase == MTC_STANDIN_START ? "S" : "R");
  if (phase == MTC_STANDIN_START || ++self.tries < 3)
    return MTC_STANDIN_AGAIN;
  auto *value =
      static_cast<float *>(mtcStandinBytes(self.asked, sizeof(float)));
  if (value)
    *value *= 2;
  return MTC_STANDIN_DONE;
}

CUresult enqueue(CUstream stream, CUdeviceptr at, CUdeviceptr asked = 0) {
  Double arguments{at, asked ? asked : at};
  MtcStandinRange range{at, sizeof(float), 1, 1};
  return mtcStandinEnqueue(stream, "doubling", &range, 1, step, &arguments,
                           sizeof arguments);
}

TEST(Hooks, AnOperationRunsInItsStream) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Outcome outcome = run(
        [] {
          Gpu gpu;
          CUdeviceptr x = gpu.floats(1), y = gpu.floats(4);
          MTC_OK(gpu.axpy(gpu.s, x, y));
          MTC_OK(enqueue(gpu.s, x));
          MTC_OK(gpu.axpy(gpu.s, x, y));
          MTC_OK(cuStreamSynchronize(gpu.s));
          MTC_TRUE(gpu.first(x) == 8);
        },
        seed);
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
    EXPECT_EQ(outcome.note, "SRRR");
  }
}

TEST(Hooks, ItConflictsAsOthersDo) {
  for (bool ordered : {true, false}) {
    Outcome outcome = run([ordered] {
      Gpu gpu;
      CUdeviceptr x = gpu.floats(1), y = gpu.floats(4);
      MTC_OK(gpu.axpy(gpu.s, x, y));
      if (ordered)
        Gpu::order(gpu.s, gpu.t);
      MTC_OK(enqueue(gpu.t, x));
      MTC_IS(ordered ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED,
             cuCtxSynchronize());
    });
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
    EXPECT_EQ(outcome.has("doubling in stream 2"), !ordered) << outcome.said;
  }
}

TEST(Hooks, AGraphStartsItAtEachLaunch) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1);
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    MTC_TRUE(!mtcStandinIsCapturing(gpu.s));
    MTC_OK(cuStreamBeginCapture(gpu.s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MTC_TRUE(mtcStandinIsCapturing(gpu.s));
    MTC_OK(enqueue(gpu.s, x));
    MTC_OK(cuStreamEndCapture(gpu.s, &graph));
    MTC_OK(cuGraphInstantiate(&exec, graph, 0));
    for (int k = 0; k < 3; ++k)
      MTC_OK(cuGraphLaunch(exec, gpu.s));
    MTC_OK(cuStreamSynchronize(gpu.s));
    MTC_TRUE(gpu.first(x) == 8);
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  EXPECT_EQ(std::count(outcome.note.begin(), outcome.note.end(), 'S'), 3);
}

TEST(Hooks, OnlyDeclaredBytesAreGiven) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1);
    MTC_OK(enqueue(gpu.s, x, x + 4));
    MTC_IS(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(gpu.s));
  });
  EXPECT_EQ(outcome.code, 0) << outcome.note;
  EXPECT_TRUE(outcome.has("did not declare")) << outcome.said;
}

TEST(Hooks, WhatIsNeverDoneIsNamed) {
  Outcome outcome = run([] {
    setenv("MTC_STANDIN_PATIENCE", "0.2", 1);
    Gpu gpu;
    auto never = [](MtcStandinPhase, void *) { return MTC_STANDIN_AGAIN; };
    MTC_OK(mtcStandinEnqueue(gpu.s, "waiting for others", nullptr, 0, never,
                             nullptr, 0));
    MTC_IS(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
  EXPECT_TRUE(outcome.has("waiting for others in stream 1")) << outcome.said;
}

} // namespace
