//===- stream_test.cpp - what streams and events order --------------------===//
#include "test/cuda/driver/harness.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

using namespace mtc::standin::test;

namespace {

/// y of stream t is written behind a kernel of stream s that reads it.
void twoStreams(bool ordered) {
  Gpu gpu;
  CUdeviceptr x = gpu.floats(1), y = gpu.floats(2), z = gpu.floats(4);
  MTC_OK(gpu.axpy(gpu.s, x, y));
  if (ordered)
    Gpu::order(gpu.s, gpu.t);
  MTC_OK(gpu.axpy(gpu.t, y, z));
  MTC_IS(ordered ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
  if (ordered) {
    MTC_TRUE(gpu.first(x) == 2);
    MTC_TRUE(gpu.first(y) == 4);
  }
}

TEST(Streams, WhatNothingOrdersConflictsUnderEverySeed) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Outcome right = run([] { twoStreams(true); }, seed);
    EXPECT_TRUE(right.good()) << right.note << right.said;
    Outcome wrong = run([] { twoStreams(false); }, seed);
    EXPECT_TRUE(wrong.good()) << wrong.note;
    EXPECT_TRUE(wrong.has("kernel axpy in stream 1")) << wrong.said;
    EXPECT_TRUE(wrong.has("kernel axpy in stream 2")) << wrong.said;
  }
}

TEST(Streams, TwoReadersAreInOrder) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1), y = gpu.floats(2), z = gpu.floats(4);
    MTC_OK(gpu.axpy(gpu.s, x, z));
    MTC_OK(gpu.axpy(gpu.t, y, z));
    MTC_OK(cuCtxSynchronize());
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Streams, BothReadersAreBeforeAWriter) {
  for (int dropped = 0; dropped < 3; ++dropped) {
    Outcome outcome = run([dropped] {
      Gpu gpu;
      CUdeviceptr x = gpu.floats(1), y = gpu.floats(2), z = gpu.floats(4);
      MTC_OK(gpu.axpy(gpu.s, x, z));
      MTC_OK(gpu.axpy(gpu.t, y, z));
      if (dropped != 1)
        Gpu::order(gpu.s, gpu.u);
      if (dropped != 2)
        Gpu::order(gpu.t, gpu.u);
      MTC_OK(cuMemsetD32Async(z, 0, Gpu::kCount, gpu.u));
      MTC_IS(dropped ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS,
             cuCtxSynchronize());
    });
    EXPECT_TRUE(outcome.good()) << dropped << outcome.note << outcome.said;
  }
}

TEST(Streams, AWaitIsForTheRecordBeforeIt) {
  for (bool again : {false, true}) {
    Outcome outcome = run([again] {
      Gpu gpu;
      CUdeviceptr x = gpu.floats(1), y = gpu.floats(2);
      CUevent e = Gpu::event();
      MTC_OK(cuEventRecord(e, gpu.s));
      if (!again)
        MTC_OK(cuStreamWaitEvent(gpu.t, e, 0));
      MTC_OK(gpu.axpy(gpu.s, x, y));
      MTC_OK(cuEventRecord(e, gpu.s));
      if (again)
        MTC_OK(cuStreamWaitEvent(gpu.t, e, 0));
      MTC_OK(cuMemsetD32Async(x, 0, 1, gpu.t));
      MTC_IS(again ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED,
             cuCtxSynchronize());
    });
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  }
}

/// Who waits on the host orders what it issues later.
TEST(Streams, TheHostOrders) {
  for (bool waits : {true, false}) {
    Outcome outcome = run([waits] {
      Gpu gpu;
      CUdeviceptr x = gpu.floats(1), y = gpu.floats(2);
      CUevent e = Gpu::event();
      MTC_OK(gpu.axpy(gpu.s, x, y));
      MTC_OK(cuEventRecord(e, gpu.s));
      if (waits)
        MTC_OK(cuEventSynchronize(e));
      MTC_OK(gpu.axpy(gpu.t, x, y));
      MTC_IS(waits ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED,
             cuCtxSynchronize());
    });
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  }
}

TEST(Streams, TheLegacyStreamIsOrderedWithBlockingOnes) {
  for (bool blocking : {true, false})
    for (bool legacyFirst : {true, false}) {
      Outcome outcome = run([=] {
        Gpu gpu;
        CUdeviceptr x = gpu.floats(1), y = gpu.floats(2);
        CUstream other = nullptr;
        MTC_OK(cuStreamCreate(&other, blocking ? CU_STREAM_DEFAULT
                                               : CU_STREAM_NON_BLOCKING));
        MTC_OK(gpu.axpy(legacyFirst ? nullptr : other, x, y));
        MTC_OK(gpu.axpy(legacyFirst ? other : nullptr, x, y));
        MTC_IS(blocking ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED,
               cuCtxSynchronize());
      });
      EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
    }
}

TEST(Streams, TwoBlockingStreamsAreNotOrdered) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1), y = gpu.floats(2);
    CUstream a = nullptr, b = nullptr;
    MTC_OK(cuStreamCreate(&a, CU_STREAM_DEFAULT));
    MTC_OK(cuStreamCreate(&b, CU_STREAM_DEFAULT));
    MTC_OK(gpu.axpy(a, x, y));
    MTC_OK(gpu.axpy(b, x, y));
    MTC_IS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Streams, AQuestionIsAnsweredInTheEnd) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Outcome outcome = run(
        [] {
          Gpu gpu;
          CUdeviceptr x = gpu.floats(1), y = gpu.floats(2);
          for (int k = 0; k < 10; ++k)
            MTC_OK(gpu.axpy(gpu.s, x, y));
          int asked = 0;
          while (cuStreamQuery(gpu.s) == CUDA_ERROR_NOT_READY)
            MTC_TRUE(++asked < 1000);
          MTC_OK(gpu.axpy(gpu.t, x, y)); // the host knows the end
          MTC_OK(cuCtxSynchronize());
        },
        seed);
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  }
}

/// The order in which host functions of three streams run.
std::string orderOf(uint64_t seed) {
  Outcome outcome = run(
      [] {
        Gpu gpu;
        static const char *names[] = {"s", "t", "u"};
        CUstream streams[] = {gpu.s, gpu.t, gpu.u};
        for (int k = 0; k < 12; ++k)
          MTC_OK(cuLaunchHostFunc(
              streams[k % 3],
              [](void *name) { note(static_cast<const char *>(name)); },
              const_cast<char *>(names[k % 3])));
        MTC_OK(cuCtxSynchronize());
      },
      seed);
  EXPECT_TRUE(outcome.good()) << outcome.said;
  EXPECT_EQ(outcome.note.size(), 12u);
  return outcome.note;
}

TEST(Streams, TheSeedIsTheOrder) {
  std::set<std::string> orders;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    orders.insert(orderOf(seed));
    EXPECT_EQ(orderOf(seed), orderOf(seed));
  }
  EXPECT_GE(orders.size(), 10u);
}

TEST(Streams, ThreadsShareTheContext) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(0), y = gpu.floats(0), one = gpu.floats(2);
    auto work = [&](CUstream stream, CUdeviceptr mine) {
      for (int k = 0; k < 50; ++k) {
        MTC_OK(gpu.axpy(stream, mine, one));
        MTC_OK(cuLaunchHostFunc(
            stream, [](void *) {}, nullptr));
        if (k % 10 == 0)
          MTC_OK(cuStreamSynchronize(stream));
      }
      MTC_OK(cuStreamSynchronize(stream));
    };
    std::thread other([&] { work(gpu.t, y); });
    work(gpu.s, x);
    other.join();
    MTC_TRUE(gpu.first(x) == 50 && gpu.first(y) == 50);
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

/// One thread waits for what others ask about.
TEST(Streams, QuestionsOfOtherThreadsDoNotHoldUpAWait) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Outcome outcome = run(
        [] {
          setenv("MTC_STANDIN_PATIENCE", "5", 1);
          setenv("MTC_STANDIN_IDLE", "0", 1);
          Gpu gpu;
          auto pause = [](void *) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          };
          for (int k = 0; k < 20; ++k)
            MTC_OK(cuLaunchHostFunc(gpu.s, pause, nullptr));
          Gpu::order(gpu.s, gpu.t);
          std::atomic<bool> over = false;
          std::thread asks([&] {
            while (!over && cuStreamQuery(gpu.t) == CUDA_ERROR_NOT_READY)
              std::this_thread::yield();
          });
          MTC_OK(cuStreamSynchronize(gpu.t));
          over = true;
          asks.join();
        },
        seed);
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  }
}

/// As a device does, while its host looks at memory only.
TEST(Streams, WorkGoesOnWithoutCalls) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    Outcome outcome = run(
        [] {
          setenv("MTC_STANDIN_IDLE", "0.01", 1);
          Gpu gpu;
          static std::atomic<int> ran;
          for (int k = 0; k < 3; ++k)
            MTC_OK(cuLaunchHostFunc(
                gpu.s, [](void *) { ++ran; }, nullptr));
          for (int k = 0; k < 2000 && ran < 3; ++k)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          MTC_TRUE(ran == 3);
        },
        seed);
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  }
}

TEST(Streams, HostFunctionsMayCallNothing) {
  Outcome outcome = run([] {
    Gpu gpu;
    static CUresult inside;
    MTC_OK(cuLaunchHostFunc(
        gpu.s, [](void *) { inside = cuStreamQuery(nullptr); }, nullptr));
    MTC_OK(cuStreamSynchronize(gpu.s));
    MTC_TRUE(inside == CUDA_ERROR_NOT_PERMITTED);
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
}

TEST(Streams, StaleHandlesAreRefused) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUevent e = Gpu::event();
    MTC_OK(cuEventDestroy(e));
    MTC_IS(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(e));
    MTC_OK(cuStreamDestroy(gpu.t));
    MTC_IS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(gpu.t));
    MTC_IS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(nullptr));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
}

} // namespace
