//===- launch_test.cpp - modules, functions and launches ------------------===//
#include "test/cuda/driver/harness.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

using namespace mtc::standin::test;

namespace {

CUresult launch(CUfunction function, unsigned grid, unsigned block,
                unsigned shared = 0, void **parameters = nullptr,
                void **extra = nullptr) {
  return cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, nullptr,
                        parameters, extra);
}

TEST(Launch, LimitsOfShapes) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1);
    void *p[] = {&x};
    CUfunction fixed = gpu.kernel("fixed");
    MTC_OK(launch(fixed, 1, 64, 0, p));
    for (unsigned block : {0u, 32u, 63u, 65u, 128u, 1025u})
      MTC_IS(CUDA_ERROR_INVALID_VALUE, launch(fixed, 1, block, 0, p));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, launch(fixed, 0, 64, 0, p));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, launch(fixed, 0x80000000u, 64, 0, p));
    MTC_IS(CUDA_ERROR_INVALID_HANDLE, launch(nullptr, 1, 64, 0, p));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
}

TEST(Launch, SharedMemoryBeyondTheUsualIsAskedFor) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1);
    void *p[] = {&x};
    CUfunction fixed = gpu.kernel("fixed");
    constexpr auto kMost = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    MTC_OK(launch(fixed, 1, 64, 49152, p));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, launch(fixed, 1, 64, 49153, p));
    MTC_OK(cuFuncSetAttribute(fixed, kMost, 232448));
    MTC_OK(launch(fixed, 1, 64, 232448, p));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(fixed, kMost, 232449));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
}

TEST(Launch, ParametersByPointersOrByBuffer) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1);
    CUfunction fixed = gpu.kernel("fixed");
    size_t size = sizeof x;
    void *p[] = {&x}, *none[] = {nullptr};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &x,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    MTC_OK(launch(fixed, 1, 64, 0, nullptr, extra));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, launch(fixed, 1, 64, 0, p, extra));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, launch(fixed, 1, 64));
    MTC_IS(CUDA_ERROR_INVALID_VALUE, launch(fixed, 1, 64, 0, none));
    size = 4;
    MTC_IS(CUDA_ERROR_INVALID_VALUE, launch(fixed, 1, 64, 0, nullptr, extra));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
}

TEST(Launch, ParametersAreTakenByTheCall) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Outcome outcome = run(
        [] {
          Gpu gpu;
          CUdeviceptr x = gpu.floats(1);
          unsigned value = 0x40000000; // 2.0f
          void *p[] = {&x, &value};
          MTC_OK(cuLaunchKernel(gpu.kernel("store"), 1, 1, 1, 1, 1, 1, 0, gpu.s,
                                p, nullptr));
          value = 0;
          MTC_OK(cuStreamSynchronize(gpu.s));
          MTC_TRUE(gpu.first(x) == 2);
        },
        seed);
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  }
}

TEST(Launch, AnEndlessKernelEnds) {
  Outcome outcome = run([] {
    Gpu gpu;
    MTC_OK(launch(gpu.kernel("endless"), 1, 1));
    MTC_IS(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
  EXPECT_TRUE(outcome.has("endless")) << outcome.said;
}

TEST(Module, ARefusedTextHasALog) {
  Outcome outcome = run([] {
    Gpu gpu;
    std::string text = kKernels;
    text.replace(text.find("fma.rn.f32"), 10, "fmb.rn.f32");
    char log[512] = {};
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    CUmodule module = nullptr;
    MTC_IS(CUDA_ERROR_INVALID_PTX,
           cuModuleLoadDataEx(&module, text.c_str(), 2, options, values));
    MTC_TRUE(std::strstr(log, "fmb"));
    MTC_TRUE(reinterpret_cast<size_t>(values[1]) == std::strlen(log));
    MTC_IS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, "no PTX\n"));
    MTC_IS(CUDA_ERROR_NO_BINARY_FOR_GPU,
           cuModuleLoadData(&module, "\177ELF and more"));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
}

TEST(Module, FunctionsEndWithTheirModule) {
  Outcome outcome = run([] {
    Gpu gpu;
    CUdeviceptr x = gpu.floats(1);
    void *p[] = {&x};
    CUfunction fixed = gpu.kernel("fixed");
    MTC_OK(cuModuleUnload(gpu.module));
    MTC_IS(CUDA_ERROR_INVALID_HANDLE, launch(fixed, 1, 64, 0, p));
    MTC_IS(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(gpu.module));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
}

TEST(Entry, FunctionsByName) {
  Outcome outcome = run([] {
    void *function = nullptr;
    CUdriverProcAddressQueryResult status;
    MTC_OK(cuGetProcAddress("cuMemAlloc", &function, 13000, 0, &status));
    MTC_TRUE(function == reinterpret_cast<void *>(&cuMemAlloc));
    MTC_OK(cuGetProcAddress("cuNothing", &function, 13000, 0, &status));
    MTC_TRUE(!function && status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    CUdeviceptr p = 0;
    MTC_IS(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc(&p, 4));
    MTC_OK(cuInit(0));
    MTC_IS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 4));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note;
}

} // namespace
