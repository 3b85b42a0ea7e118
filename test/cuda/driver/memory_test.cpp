//===- memory_test.cpp - what memory may be used for ----------------------===//
#include "test/cuda/driver/harness.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

using namespace mtc::standin::test;

namespace {

constexpr size_t kBytes = Gpu::kCount * sizeof(float);

TEST(Memory, HostCannotTouchADeviceAddress) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1);
    *reinterpret_cast<volatile float *>(x) = 2;
  });
  EXPECT_EQ(outcome.signal, SIGSEGV);
}

TEST(Memory, CopiesGoThereAndBack) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.empty(), y = gpu.empty();
    float out[Gpu::kCount] = {3, 4}, in[Gpu::kCount] = {};
    MTC_OK(cuMemcpyHtoD(x, out, kBytes));
    MTC_OK(cuCtxSynchronize());
    MTC_OK(cuMemcpyDtoDAsync(y, x, kBytes, gpu.s));
    MTC_OK(cuMemcpyDtoHAsync(in, y, kBytes, gpu.s));
    MTC_TRUE(!std::memcmp(in, out, kBytes));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Memory, UnwrittenBytesAreNotRead) {
  Outcome wrong = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1), y = gpu.empty();
    MTC_OK(gpu.axpy(gpu.s, x, y));
    MTC_IS(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(gpu.s));
  });
  EXPECT_TRUE(wrong.good()) << wrong.note;
  EXPECT_TRUE(wrong.has("uninitialised")) << wrong.said;
  EXPECT_TRUE(wrong.has("kernel axpy in stream 1")) << wrong.said;
}

TEST(Memory, TheElementBehindTheLastIsNoOnes) {
  for (int n : {Gpu::kCount, Gpu::kCount + 1}) {
    Outcome outcome = run([n] {
      Gpu gpu;
      CUdeviceptr x = gpu.floats(1), y = gpu.floats(2);
      MTC_OK(gpu.axpy(gpu.s, x, y, 1, n));
      MTC_IS(n == Gpu::kCount ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS,
             cuStreamSynchronize(gpu.s));
    });
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
    EXPECT_EQ(outcome.has("out of bounds"), n > Gpu::kCount) << outcome.said;
  }
}

TEST(Memory, FreedBytesAreRemembered) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1), y = gpu.floats(2);
    MTC_OK(cuMemFree(y));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, cuMemFree(y));
    MTC_OK(gpu.axpy(gpu.s, x, y));
    MTC_IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(gpu.s));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
  EXPECT_TRUE(outcome.has("was freed")) << outcome.said;
}

TEST(Memory, AddressesAreMultiplesOfTheAccess) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1);
    MTC_OK(gpu.store(gpu.s, x + 4, 1));
    MTC_OK(cuStreamSynchronize(gpu.s));
    MTC_OK(gpu.store(gpu.s, x + 2, 1));
    MTC_IS(CUDA_ERROR_MISALIGNED_ADDRESS, cuStreamSynchronize(gpu.s));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Memory, AnErrorOfTheDeviceStays) {
  Outcome outcome = run([] {
    Gpu gpu;
    MTC_OK(gpu.store(gpu.s, 16, 1));
    MTC_IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    CUdeviceptr p = 0;
    CUevent e = nullptr;
    int warp = 0;
    MTC_IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&p, 64));
    MTC_IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuEventCreate(&e, 0));
    MTC_IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamQuery(gpu.t));
    MTC_OK(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
}

/// The host writes to pinned memory before or after a copy from it, or to it,
/// has ended.
void copyPinned(bool waits, bool sends) {
  Gpu gpu;
  CUdeviceptr x = gpu.floats(1);
  float *host = nullptr;
  MTC_OK(cuMemAllocHost(reinterpret_cast<void **>(&host), kBytes));
  std::memset(host, 0, kBytes);
  if (sends)
    MTC_OK(cuMemcpyHtoDAsync(x, host, kBytes, gpu.s));
  else
    MTC_OK(cuMemcpyDtoHAsync(host, x, kBytes, gpu.s));
  if (waits)
    MTC_OK(cuStreamSynchronize(gpu.s));
  host[0] = 2;
  MTC_IS(waits ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED,
         cuStreamSynchronize(gpu.s));
}

TEST(Memory, TheHostLeavesPinnedMemoryAloneUntilTheCopyHasEnded) {
  for (bool sends : {true, false}) {
    // Seeds under which the copy runs late: an early one has ended.
    int found = 0;
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      Outcome right = run([=] { copyPinned(true, sends); }, seed);
      EXPECT_TRUE(right.good()) << right.note << right.said;
      Outcome wrong = run([=] { copyPinned(false, sends); }, seed);
      found += wrong.has("the host wrote to pinned memory");
    }
    EXPECT_GE(found, 2);
  }
}

/// The device's own writes are no offence.
TEST(Memory, PinnedMemoryGoesThroughOneStream) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Outcome outcome = run(
        [] {
          Gpu gpu;
          CUdeviceptr x = gpu.floats(1), y = gpu.empty();
          float *host = nullptr;
          MTC_OK(cuMemAllocHost(reinterpret_cast<void **>(&host), kBytes));
          MTC_OK(cuMemcpyDtoHAsync(host, x, kBytes, gpu.s));
          MTC_OK(cuMemcpyHtoDAsync(y, host, kBytes, gpu.s));
          MTC_OK(cuStreamSynchronize(gpu.s));
          MTC_TRUE(gpu.first(y) == 1);
        },
        seed);
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  }
}

TEST(Memory, PageableSourcesAreReadAtOnce) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Outcome outcome = run(
        [] {
          Gpu gpu;
          CUdeviceptr x = gpu.empty();
          float host[Gpu::kCount] = {1};
          MTC_OK(cuMemcpyHtoDAsync(x, host, kBytes, gpu.s));
          host[0] = 2;
          MTC_OK(cuStreamSynchronize(gpu.s));
          MTC_TRUE(gpu.first(x) == 1);
        },
        seed);
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  }
}

TEST(Memory, ACopyFromPageableMemoryMayReturnBeforeItHasEnded) {
  for (bool waits : {true, false}) {
    Outcome outcome = run([waits] {
      Gpu gpu;
      CUdeviceptr x = gpu.empty(), y = gpu.floats(1);
      float host[Gpu::kCount] = {};
      MTC_OK(cuMemcpyHtoD(x, host, kBytes));
      if (waits)
        MTC_OK(cuCtxSynchronize());
      MTC_OK(gpu.axpy(gpu.s, x, y));
      MTC_IS(waits ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED,
             cuStreamSynchronize(gpu.s));
    });
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  }
}

TEST(Memory, CopiesStayWithinAnAllocation) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1);
    char host[kBytes + 1] = {};
    MTC_OK(cuMemcpyHtoD(x, host, kBytes));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(x, host, kBytes + 1));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, x + 1, kBytes));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(x + 2, 0, 1));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8Async(x, 0, kBytes + 1, gpu.s));
    auto *asDevice = reinterpret_cast<CUdeviceptr *>(host);
    MTC_IS(CUDA_ERROR_INVALID_VALUE,
           cuMemcpyDtoD(x, reinterpret_cast<CUdeviceptr>(asDevice), 4));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Memory, WhatIsLeftAtTheEndIsTold) {
  for (bool frees : {true, false}) {
    Outcome outcome = run([frees] {
      setenv("MTC_STANDIN_LEAKS", "1", 1);
      Gpu gpu;
      CUdeviceptr x = gpu.floats(1);
      if (frees)
        MTC_OK(cuMemFree(x));
      std::exit(0);
    });
    EXPECT_TRUE(outcome.has("3 streams, 1 modules")) << outcome.said;
    EXPECT_EQ(outcome.has("256 device bytes"), !frees) << outcome.said;
  }
}

TEST(Memory, ItEndsWithTheContext) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1), p = 0;
    CUcontext context = nullptr;
    MTC_OK(cuDevicePrimaryCtxRelease(0));
    MTC_IS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&p, 64));
    MTC_IS(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(gpu.s));
    MTC_OK(cuDevicePrimaryCtxRetain(&context, 0));
    MTC_OK(cuCtxSetCurrent(context));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, cuMemFree(x));
    MTC_OK(cuMemAlloc(&p, 64));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Memory, RegisteredMemoryIsPinned) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(3);
    alignas(4096) static char page[8192];
    MTC_OK(cuMemHostRegister(page, sizeof page, 0));
    MTC_IS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
           cuMemHostRegister(page, 64, 0));
    MTC_OK(cuMemcpyDtoHAsync(page, x, kBytes, gpu.s));
    MTC_OK(cuStreamSynchronize(gpu.s));
    float first = 0;
    std::memcpy(&first, page, sizeof first);
    MTC_TRUE(first == 3);
    MTC_OK(cuMemHostUnregister(page));
    MTC_IS(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(page));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

} // namespace
