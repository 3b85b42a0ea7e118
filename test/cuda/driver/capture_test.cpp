//===- capture_test.cpp - what a capture permits --------------------------===//
//
// The full list is the comparison with the real driver; here are the rules that
// a runtime meets, each with its legal twin.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/driver/harness.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

using namespace mtc::standin::test;

namespace {

constexpr auto kGlobal = CU_STREAM_CAPTURE_MODE_GLOBAL;
constexpr auto kThread = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
constexpr auto kRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

CUgraph end(CUstream stream, CUresult expected = CUDA_SUCCESS) {
  CUgraph graph = nullptr;
  MTC_IS(expected, cuStreamEndCapture(stream, &graph));
  MTC_TRUE((graph != nullptr) == (expected == CUDA_SUCCESS));
  return graph;
}

/// x += y / 2 in s, beside it z += y / 2 in t, then x += z / 2 in s.
CUgraph forkAndJoin(Gpu &gpu, CUdeviceptr x, CUdeviceptr y, CUdeviceptr z,
                    bool joins) {
  MTC_OK(cuStreamBeginCapture(gpu.s, kThread));
  Gpu::order(gpu.s, gpu.t);
  MTC_OK(gpu.axpy(gpu.s, x, y));
  MTC_OK(gpu.axpy(gpu.t, z, y));
  if (joins)
    Gpu::order(gpu.t, gpu.s);
  MTC_OK(gpu.axpy(gpu.s, x, z));
  return end(gpu.s, joins ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}

TEST(Capture, AGraphRunsAtItsLaunches) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Outcome outcome = run(
        [] {
          Gpu gpu;
          CUdeviceptr x = gpu.floats(1), y = gpu.floats(2), z = gpu.floats(4);
          CUgraphExec exec = instantiate(forkAndJoin(gpu, x, y, z, true));
          MTC_TRUE(gpu.first(x) == 1);
          for (int k = 0; k < 3; ++k)
            MTC_OK(cuGraphLaunch(exec, gpu.u));
          MTC_OK(cuStreamSynchronize(gpu.u));
          MTC_TRUE(gpu.first(z) == 7);
          MTC_TRUE(gpu.first(x) == 1 + 3 + (5 + 6 + 7) / 2.0f);
        },
        seed);
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  }
}

TEST(Capture, AForkedStreamHasToJoin) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1), y = gpu.floats(2), z = gpu.floats(4);
    forkAndJoin(gpu, x, y, z, false);
    MTC_OK(gpu.axpy(gpu.t, z, y)); // captures no more
    MTC_OK(cuCtxSynchronize());
    MTC_TRUE(gpu.first(z) == 5);
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Capture, NodesThatNothingOrdersConflict) {
  for (bool ordered : {true, false}) {
    Outcome outcome = run([ordered] {
      Gpu gpu;
      CUdeviceptr x = gpu.floats(1), y = gpu.floats(2);
      MTC_OK(cuStreamBeginCapture(gpu.s, kThread));
      Gpu::order(gpu.s, gpu.t);
      MTC_OK(gpu.axpy(gpu.s, x, y));
      if (ordered)
        Gpu::order(gpu.s, gpu.t);
      MTC_OK(gpu.axpy(gpu.t, x, y));
      Gpu::order(gpu.t, gpu.s);
      MTC_OK(cuGraphLaunch(instantiate(end(gpu.s)), gpu.s));
      MTC_IS(ordered ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED,
             cuStreamSynchronize(gpu.s));
    });
    EXPECT_TRUE(outcome.good()) << outcome.note;
    EXPECT_EQ(outcome.has("node 0 of a graph in stream 1"), !ordered)
        << outcome.said;
  }
}

TEST(Capture, WaitingForTheCapturedStreamEndsTheCapture) {
  for (auto mode : {kGlobal, kThread, kRelaxed}) {
    Outcome outcome = run([mode] {
      Gpu gpu;
      CUdeviceptr x = gpu.floats(1);
      MTC_OK(cuStreamBeginCapture(gpu.s, mode));
      MTC_IS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(gpu.s));
      MTC_IS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, gpu.store(gpu.s, x, 1));
      end(gpu.s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
      MTC_OK(gpu.store(gpu.s, x, 1));
      MTC_OK(cuStreamSynchronize(gpu.s));
    });
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  }
}

/// Whether cuMemAlloc is refused while a stream captures.
void allocate(CUstreamCaptureMode mode, bool elsewhere, bool exchanged) {
  Gpu gpu;
  CUcontext context = nullptr;
  MTC_OK(cuCtxGetCurrent(&context));
  MTC_OK(cuStreamBeginCapture(gpu.s, mode));
  CUresult result = CUDA_SUCCESS;
  auto call = [&] {
    CUstreamCaptureMode own = kRelaxed;
    CUdeviceptr p = 0;
    MTC_OK(cuCtxSetCurrent(context));
    if (exchanged)
      MTC_OK(cuThreadExchangeStreamCaptureMode(&own));
    result = cuMemAlloc(&p, 64);
    if (exchanged)
      MTC_OK(cuThreadExchangeStreamCaptureMode(&own));
  };
  if (elsewhere)
    std::thread(call).join();
  else
    call();
  bool refused =
      !exchanged && (mode == kGlobal || (mode == kThread && !elsewhere));
  MTC_TRUE(result ==
           (refused ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS));
  end(gpu.s, refused ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
}

TEST(Capture, ModesSayWhoMayAllocate) {
  for (auto mode : {kGlobal, kThread, kRelaxed})
    for (bool elsewhere : {false, true})
      for (bool exchanged : {false, true}) {
        Outcome outcome = run([=] { allocate(mode, elsewhere, exchanged); });
        EXPECT_TRUE(outcome.good())
            << int(mode) << elsewhere << exchanged << outcome.note;
      }
}

TEST(Capture, AnEventFromOutsideIsNotWaitedFor) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUevent e = Gpu::event();
    MTC_OK(cuEventRecord(e, gpu.t));
    MTC_OK(cuStreamBeginCapture(gpu.s, kThread));
    MTC_IS(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(gpu.s, e, 0));
    end(gpu.s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    MTC_OK(cuStreamBeginCapture(gpu.s, kThread));
    MTC_OK(cuStreamWaitEvent(gpu.s, e, CU_EVENT_WAIT_EXTERNAL));
    end(gpu.s);
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
}

TEST(Capture, AnExternalEventOrdersAcrossTheGraph) {
  for (bool waits : {true, false}) {
    Outcome outcome = run([waits] {
      Gpu gpu;
      CUdeviceptr x = gpu.floats(1), y = gpu.floats(2);
      CUevent before = Gpu::event(), after = Gpu::event();
      MTC_OK(gpu.axpy(gpu.t, x, y));
      MTC_OK(cuEventRecord(before, gpu.t));
      MTC_OK(cuStreamBeginCapture(gpu.s, kThread));
      if (waits)
        MTC_OK(cuStreamWaitEvent(gpu.s, before, CU_EVENT_WAIT_EXTERNAL));
      MTC_OK(gpu.axpy(gpu.s, x, y));
      MTC_OK(cuEventRecordWithFlags(after, gpu.s, CU_EVENT_RECORD_EXTERNAL));
      MTC_OK(cuGraphLaunch(instantiate(end(gpu.s)), gpu.s));
      MTC_OK(cuStreamWaitEvent(gpu.u, after, 0));
      MTC_OK(gpu.axpy(gpu.u, x, y));
      MTC_IS(waits ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED,
             cuCtxSynchronize());
    });
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  }
}

TEST(Capture, ACapturedEventAnswersNoQuestion) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1);
    CUevent e = Gpu::event();
    MTC_OK(cuStreamBeginCapture(gpu.s, kThread));
    MTC_OK(gpu.store(gpu.s, x, 1));
    MTC_OK(cuEventRecord(e, gpu.s));
    MTC_IS(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(e));
    end(gpu.s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    MTC_IS(CUDA_ERROR_INVALID_VALUE, cuStreamWaitEvent(gpu.t, e, 0));
    MTC_OK(cuEventRecord(e, gpu.s));
    MTC_OK(cuEventSynchronize(e));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
}

TEST(Capture, TheLegacyStreamIsOutOfIt) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1);
    CUstream blocking = nullptr;
    MTC_OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    MTC_IS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
           cuStreamBeginCapture(nullptr, kThread));
    MTC_OK(cuStreamBeginCapture(gpu.s, kThread));
    MTC_OK(gpu.store(nullptr, x, 1)); // s is not ordered with it
    end(gpu.s);
    MTC_OK(cuStreamBeginCapture(blocking, kThread));
    MTC_IS(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, gpu.store(nullptr, x, 1));
    end(blocking, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
}

} // namespace
