//===- devices_test.cpp - several GPUs, and what is of which --------------===//
#include "test/cuda/driver/harness.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

using namespace mtc::standin::test;

namespace {

/// Two GPUs, in a process that has not begun; a Gpu then is the first.
void haveTwo() { setenv("MTC_STANDIN_DEVICES", "2", 1); }

CUcontext contextOf(CUdevice device) {
  CUcontext context = nullptr;
  MTC_OK(cuDevicePrimaryCtxRetain(&context, device));
  return context;
}

/// The second GPU, current from here on, with a stream and `axpy`.
struct Second {
  CUcontext context = contextOf(1);
  CUstream s = nullptr;
  CUmodule module = nullptr;
  CUfunction axpy = nullptr;

  Second() {
    MTC_OK(cuCtxSetCurrent(context));
    MTC_OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MTC_OK(cuModuleLoadData(&module, kKernels));
    MTC_OK(cuModuleGetFunction(&axpy, module, "axpy"));
  }

  CUdeviceptr floats(unsigned bits) const {
    CUdeviceptr address = 0;
    MTC_OK(cuMemAlloc(&address, 4 * Gpu::kCount));
    MTC_OK(cuMemsetD32Async(address, bits, Gpu::kCount, s));
    MTC_OK(cuStreamSynchronize(s));
    return address;
  }
  CUresult run(CUfunction function, CUdeviceptr x, CUdeviceptr y) const {
    float a = 1;
    int n = Gpu::kCount;
    void *arguments[] = {&x, &y, &n, &a};
    return cuLaunchKernel(function, 3, 1, 1, 32, 1, 1, 0, s, arguments,
                          nullptr);
  }
};

constexpr unsigned kOne = 0x3f800000;

TEST(Devices, EachHasAContextOfItsOwn) {
  Outcome outcome = run([] {
    haveTwo();
    Gpu gpu;
    int count = 0, ordinal = -1, can = 0;
    CUdevice device = 0;
    CUuuid ids[2];
    MTC_OK(cuDeviceGetCount(&count));
    MTC_TRUE(count == 2);
    MTC_IS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 2));
    MTC_IS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
    for (int k = 0; k < 2; ++k)
      MTC_OK(cuDeviceGetUuid(&ids[k], k));
    MTC_TRUE(std::string(ids[0].bytes, 16) != std::string(ids[1].bytes, 16));
    CUcontext first = nullptr;
    MTC_OK(cuCtxGetCurrent(&first));
    Second second;
    MTC_TRUE(first != second.context);
    MTC_OK(cuCtxGetDevice(&device));
    MTC_TRUE(device == 1);
    CUdeviceptr x = second.floats(kOne);
    MTC_OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 x));
    MTC_TRUE(ordinal == 1);
    for (int k = 0; k < 4; ++k) {
      MTC_OK(cuDeviceCanAccessPeer(&can, k / 2, k % 2));
      MTC_TRUE(can == (k / 2 != k % 2));
    }
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

/// What is of a context is refused while another one is current, and named.
TEST(Devices, HandlesAreOfAContext) {
  Outcome outcome = run([] {
    haveTwo();
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1);
    CUevent event = Gpu::event();
    CUfunction function = gpu.kernel("axpy");
    CUgraph graph = nullptr;
    Second second;
    MTC_IS(CUDA_ERROR_INVALID_CONTEXT, cuMemsetD8Async(x, 0, 4, gpu.s));
    MTC_IS(CUDA_ERROR_INVALID_CONTEXT, cuStreamSynchronize(gpu.s));
    MTC_IS(CUDA_ERROR_INVALID_CONTEXT,
           cuStreamBeginCapture(gpu.s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MTC_IS(CUDA_ERROR_INVALID_CONTEXT, cuStreamEndCapture(gpu.s, &graph));
    MTC_IS(CUDA_ERROR_INVALID_CONTEXT, cuStreamDestroy(gpu.s));
    MTC_IS(CUDA_ERROR_INVALID_CONTEXT, cuEventDestroy(event));
    MTC_IS(CUDA_ERROR_INVALID_CONTEXT, cuMemFree(x));
    MTC_IS(CUDA_ERROR_INVALID_CONTEXT, cuModuleUnload(gpu.module));
    MTC_IS(CUDA_ERROR_INVALID_CONTEXT,
           cuModuleGetFunction(&function, gpu.module, "axpy"));
    MTC_IS(CUDA_ERROR_INVALID_CONTEXT,
           cuFuncSetAttribute(
               function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1));
    // Two handles that do not belong together.
    CUdeviceptr y = second.floats(kOne);
    MTC_IS(CUDA_ERROR_INVALID_HANDLE, second.run(function, y, y));
    MTC_IS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, second.s));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  EXPECT_TRUE(outcome.has("stream 1, of device 0, is used "
                          "where the context of device 1 is current"))
      << outcome.said;
  EXPECT_TRUE(outcome.has("function axpy of device 0 is launched in stream 4 "
                          "of device 1"))
      << outcome.said;
}

/// A stream waits for an event of another device, and so does the host; without
/// that wait the two conflict.
TEST(Devices, EventsOrderStreamsOfTwo) {
  for (bool waits : {true, false}) {
    Outcome outcome = run([waits] {
      haveTwo();
      Gpu gpu;
      CUdeviceptr x = gpu.floats(1), y = gpu.floats(2);
      CUevent event = Gpu::event();
      CUcontext first = nullptr;
      MTC_OK(cuCtxGetCurrent(&first));
      float *host = nullptr;
      MTC_OK(cuMemAllocHost(reinterpret_cast<void **>(&host), 256));
      MTC_OK(gpu.axpy(gpu.s, x, y, 1));
      MTC_OK(cuMemcpyDtoHAsync(host, x, 256, gpu.s));
      MTC_OK(cuEventRecord(event, gpu.s));
      Second second;
      CUdeviceptr z = second.floats(kOne);
      if (waits)
        MTC_OK(cuStreamWaitEvent(second.s, event, 0));
      MTC_OK(cuMemcpyHtoDAsync(z, host, 256, second.s));
      CUresult ends[] = {cuStreamSynchronize(second.s),
                         cuEventSynchronize(event)};
      MTC_TRUE(ends[1] == (waits ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED));
      if (!waits)
        return;
      float found = 0;
      MTC_OK(ends[0]);
      MTC_OK(cuMemcpyDtoH(&found, z, 4));
      MTC_TRUE(found == 3);
    });
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
    EXPECT_EQ(outcome.has("nothing orders them"), !waits) << outcome.said;
  }
}

/// The end of one device's work is not that of another's.
TEST(Devices, SynchronizeIsOfOneContext) {
  for (bool ofBoth : {true, false}) {
    int found = 0;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      Outcome outcome = run(
          [ofBoth] {
            haveTwo();
            Gpu gpu;
            CUcontext first = nullptr;
            MTC_OK(cuCtxGetCurrent(&first));
            float *host = nullptr;
            MTC_OK(cuMemAllocHost(reinterpret_cast<void **>(&host), 256));
            CUdeviceptr x = gpu.floats(1);
            Second second;
            CUdeviceptr y = second.floats(kOne);
            MTC_OK(cuMemcpyDtoHAsync(host, y, 256, second.s));
            if (ofBoth)
              MTC_OK(cuCtxSynchronize());
            MTC_OK(cuCtxSetCurrent(first));
            MTC_OK(cuCtxSynchronize());
            MTC_OK(cuMemcpyHtoDAsync(x, host, 256, gpu.s));
            CUresult mine = cuStreamSynchronize(gpu.s);
            MTC_OK(cuCtxSetCurrent(second.context));
            CUresult both = mine ? mine : cuCtxSynchronize();
            MTC_TRUE(both ==
                     (ofBoth ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED));
          },
          seed);
      found += outcome.good();
    }
    EXPECT_EQ(found, 6) << ofBoth;
  }
}

/// Kernels and copies of a device stay in its memory, unless it may reach
/// another's; cuMemcpyPeer goes from any to any.
TEST(Devices, MemoryIsOfOneUnlessPeersReachIt) {
  for (bool reaches : {false, true}) {
    Outcome outcome = run([reaches] {
      haveTwo();
      Gpu gpu;
      CUdeviceptr x = gpu.floats(2);
      CUcontext first = nullptr;
      MTC_OK(cuCtxGetCurrent(&first));
      Second second;
      CUdeviceptr y = second.floats(kOne), z = second.floats(0);
      MTC_OK(cuMemcpyPeer(z, second.context, x, first, 256));
      MTC_IS(CUDA_ERROR_INVALID_VALUE,
             cuMemcpyPeer(z, first, x, second.context, 256));
      MTC_OK(cuCtxSynchronize());
      MTC_IS(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(first));
      if (reaches) {
        MTC_OK(cuCtxEnablePeerAccess(first, 0));
        MTC_IS(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
               cuCtxEnablePeerAccess(first, 0));
      }
      MTC_OK(second.run(second.axpy, y, x));
      MTC_IS(reaches ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS,
             cuStreamSynchronize(second.s));
      if (!reaches)
        return;
      float found = 0;
      MTC_OK(cuMemcpyDtoH(&found, y, 4));
      MTC_TRUE(found == 3);
      // One way only.
      MTC_OK(cuCtxSetCurrent(first));
      MTC_OK(gpu.axpy(gpu.s, x, y));
      MTC_IS(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(gpu.s));
    });
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
    EXPECT_TRUE(outcome.has(reaches ? "is memory of device 1, which"
                                    : "is memory of device 0, which"))
        << outcome.said;
  }
}

/// One context goes, and the other's work and memory stay.
TEST(Devices, AReleaseIsOfOneContext) {
  Outcome outcome = run([] {
    haveTwo();
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1), y = gpu.floats(2);
    CUcontext first = nullptr;
    MTC_OK(cuCtxGetCurrent(&first));
    Second second;
    second.floats(kOne);
    MTC_OK(cuDevicePrimaryCtxRelease(1));
    MTC_IS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    MTC_IS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(second.context));
    MTC_IS(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(second.s));
    MTC_OK(cuCtxSetCurrent(first));
    MTC_OK(gpu.axpy(gpu.s, x, y, 1));
    MTC_OK(cuStreamSynchronize(gpu.s));
    MTC_TRUE(gpu.first(x) == 3);
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

/// Which are shown, by the slot of the first; none: it says so.
TEST(Devices, VisibleOnesAreShownInTheirOrder) {
  struct Case {
    const char *visible;
    int count;
    const char *first;
  };
  for (const Case &each :
       {Case{"1,0", 2, "0000:00:07.0"}, Case{"2", 1, "0000:00:08.0"},
        Case{"1,7,0", 1, "0000:00:07.0"}, Case{"0,0", 1, "0000:00:06.0"},
        Case{"7", 0, ""}}) {
    Outcome outcome = run([each] {
      setenv("MTC_STANDIN_DEVICES", "3", 1);
      setenv("CUDA_VISIBLE_DEVICES", each.visible, 1);
      MTC_IS(each.count ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE, cuInit(0));
      if (!each.count)
        return;
      int count = 0;
      char slot[16] = "";
      MTC_OK(cuDeviceGetCount(&count));
      MTC_OK(cuDeviceGetPCIBusId(slot, sizeof slot, 0));
      MTC_TRUE(count == each.count);
      MTC_TRUE(std::string(slot) == each.first);
    });
    EXPECT_TRUE(outcome.good()) << each.visible << outcome.note;
  }
}

/// GPUs of two kinds, each with its own code.
TEST(Devices, CapabilitiesAreOfEach) {
  Outcome outcome = run([] {
    haveTwo();
    setenv("MTC_STANDIN_CAPABILITY", "90,80", 1);
    Gpu gpu;
    const std::string newer = ".version 7.8\n.target sm_90\n.address_size 64\n"
                              ".visible .entry none() { ret; }\n";
    CUmodule module = nullptr;
    MTC_OK(cuModuleLoadData(&module, newer.c_str()));
    Second second;
    int major = 0, can = 1;
    MTC_OK(cuDeviceGetAttribute(
        &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1));
    MTC_TRUE(major == 8);
    MTC_OK(cuDeviceCanAccessPeer(&can, 0, 1));
    MTC_TRUE(!can);
    MTC_TRUE(cuModuleLoadData(&module, newer.c_str()) != CUDA_SUCCESS);
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
}

} // namespace
