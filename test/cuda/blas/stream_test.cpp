//===- stream_test.cpp - products among other operations ------------------===//
#include "test/cuda/blas/reference.h"

#include <gtest/gtest.h>

using namespace mtc::standin::test;

namespace {

Shape inF32() {
  Shape shape;
  shape.type = shape.out = CUDA_R_32F;
  return shape;
}

TEST(Products, AProductIsOrderedAsKernelsAre) {
  // axpy writes to A, in another stream, before the product.
  for (bool ordered : {true, false})
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      Outcome outcome = run(
          [ordered] {
            Blas blas;
            Operation operation(blas, inF32());
            operation.makeBuffers();
            CUdeviceptr y = blas.floats(4);
            MTC_OK(blas.axpy(blas.t, operation.a, y));
            if (ordered)
              Gpu::order(blas.t, blas.s);
            MTC_LT_OK(operation.go(blas.s));
            for (int k = 0; k < Gpu::kCount; ++k)
              operation.valuesA[size_t(k)] += 2;
            MTC_IS(ordered ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED,
                   cuCtxSynchronize());
            MTC_TRUE(!ordered || operation.result(blas.s)[0] ==
                                     elementOf(operation, 0, 0).sum);
          },
          seed);
      EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
      EXPECT_EQ(outcome.has("cublasLtMatmul in stream 1"), !ordered)
          << outcome.said;
    }
}

/// What each buffer is to the product is seen when a kernel, unordered, reads
/// or writes it: two readers are fine.
TEST(Products, EveryBufferIsDeclared) {
  struct Case {
    const char *name;
    uint32_t epilogue;
    CUdeviceptr Operation::*buffer;
    bool written;
  };
  const Case cases[] = {
      {"A", CUBLASLT_EPILOGUE_DEFAULT, &Operation::a, false},
      {"B", CUBLASLT_EPILOGUE_DEFAULT, &Operation::b, false},
      {"D", CUBLASLT_EPILOGUE_DEFAULT, &Operation::d, true},
      {"bias", CUBLASLT_EPILOGUE_BIAS, &Operation::bias, false},
      {"aux", CUBLASLT_EPILOGUE_GELU_AUX, &Operation::aux, true},
      {"aux read", CUBLASLT_EPILOGUE_DGELU, &Operation::aux, false},
      {"gradient", CUBLASLT_EPILOGUE_DGELU_BGRAD, &Operation::bias, true},
      {"workspace", CUBLASLT_EPILOGUE_DGELU_BGRAD, &Operation::workspace, true},
      {"alpha", CUBLASLT_EPILOGUE_DEFAULT, &Operation::scalars, false}};
  for (const Case &each : cases)
    for (bool writes : {false, true}) {
      Outcome outcome = run([&] {
        Blas blas;
        Shape shape = inF32();
        shape.epilogue = each.epilogue;
        shape.deviceScalars = each.buffer == &Operation::scalars;
        shape.beta = shape.deviceScalars; // which is unknown then: C is read
        Operation operation(blas, shape);
        operation.makeBuffers();
        CUdeviceptr x = blas.floats(1);
        CUdeviceptr other = operation.*each.buffer;
        bool blank = each.written; // the kernel reads what nothing wrote
        if (blank)
          MTC_OK(cuMemsetD8Async(other, 0, 2 * sizeof(float), blas.s));
        MTC_OK(cuStreamSynchronize(blas.s));
        MTC_LT_OK(operation.go(blas.s));
        MTC_OK(writes ? blas.axpy(blas.t, other, x, 0.5f, 2)
                      : blas.axpy(blas.t, x, other, 0.5f, 2));
        CUresult result = cuCtxSynchronize();
        MTC_TRUE((result != CUDA_SUCCESS) == (writes || each.written));
      });
      EXPECT_TRUE(outcome.good())
          << each.name << writes << outcome.note << outcome.said;
    }
}

TEST(Products, WhatIsReadIsThere) {
  struct Case {
    const char *sentence;
    std::function<void(Operation &)> spoil;
  };
  const Case cases[] = {
      {"", [](Operation &) {}},
      {"was never written",
       [](Operation &of) { of.a = of.blas.empty(size_t(1) << 16); }},
      {"freed", [](Operation &of) { MTC_OK(cuMemFree(of.b)); }},
      {"no allocation holds 8192 bytes",
       [](Operation &of) {
         of.d += size_t(of.shape.m) * 4;
         of.c = of.d;
       }},
      {"no allocation", [](Operation &of) { of.a = CUdeviceptr(1) << 40; }}};
  for (const Case &each : cases) {
    Outcome outcome = run([&] {
      Blas blas;
      Operation operation(blas, inF32());
      operation.makeBuffers();
      each.spoil(operation);
      MTC_LT_OK(operation.go(blas.s));
      MTC_TRUE((cuCtxSynchronize() == CUDA_SUCCESS) == !each.sentence[0]);
    });
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
    EXPECT_TRUE(outcome.has(each.sentence)) << outcome.said;
  }
}

TEST(Products, AGraphRunsItAtEachLaunch) {
  Outcome outcome = run([] {
    Blas blas;
    Shape shape = inF32();
    shape.beta = 1;
    Operation operation(blas, shape);
    operation.makeBuffers();
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    MTC_OK(cuStreamBeginCapture(blas.s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MTC_LT_OK(operation.find());
    MTC_LT_OK(operation.go(blas.s, operation.results[0].algo,
                           operation.results[0].workspaceSize));
    MTC_OK(cuStreamEndCapture(blas.s, &graph));
    MTC_OK(cuGraphInstantiate(&exec, graph, 0));
    for (int k = 0; k < 3; ++k)
      MTC_OK(cuGraphLaunch(exec, blas.s));
    Element of = elementOf(operation, 0, 0);
    float expected = float(of.old);
    for (int k = 0; k < 3; ++k)
      expected += float(of.sum);
    MTC_TRUE(operation.result(blas.s)[0] == expected);
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

/// All that the algorithm asked for is overwritten, and nothing behind it.
TEST(Products, TheWorkspaceIsScribbledOver) {
  Outcome outcome = run([] {
    Blas blas;
    Shape shape = inF32();
    shape.epilogue = CUBLASLT_EPILOGUE_DGELU_BGRAD;
    Operation operation(blas, shape);
    operation.makeBuffers();
    MTC_LT_OK(operation.find());
    size_t needs = operation.results[0].workspaceSize;
    MTC_TRUE(needs > 0);
    MTC_OK(cuMemsetD8Async(operation.workspace, 1, needs + 64, blas.s));
    MTC_LT_OK(operation.go(blas.s, operation.results[0].algo, needs + 64));
    MTC_OK(cuStreamSynchronize(blas.s));
    std::vector<unsigned char> bytes(needs + 64);
    MTC_OK(cuMemcpyDtoH(bytes.data(), operation.workspace, bytes.size()));
    for (size_t k = 0; k < bytes.size(); ++k)
      MTC_TRUE((bytes[k] == 1) == (k >= needs));
  });
  EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
}

TEST(Products, OneWorkspaceForTwoStreamsIsARace) {
  for (bool shared : {false, true}) {
    Outcome outcome = run([shared] {
      Blas blas;
      Shape shape = inF32();
      shape.epilogue = CUBLASLT_EPILOGUE_DGELU_BGRAD;
      Operation one(blas, shape), other(blas, shape);
      one.makeBuffers();
      other.makeBuffers();
      if (shared)
        other.workspace = one.workspace;
      MTC_LT_OK(one.go(blas.s));
      MTC_LT_OK(other.go(blas.t));
      MTC_TRUE((cuCtxSynchronize() == CUDA_SUCCESS) == !shared);
    });
    EXPECT_TRUE(outcome.good()) << outcome.note << outcome.said;
  }
}

TEST(Products, LeaksAreTold) {
  for (bool frees : {true, false}) {
    Outcome outcome = run([frees] {
      setenv("MTC_STANDIN_LEAKS", "1", 1);
      Blas blas;
      Operation operation(blas, inF32());
      if (frees) {
        operation.destroy();
        MTC_LT_OK(blas.lt.cublasLtDestroy(blas.handle));
      }
      exit(0);
    });
    EXPECT_EQ(outcome.has("1 handles of cublasLt, 1 matmul descriptors, 4 "
                          "matrix layouts, 1 preferences"),
              !frees)
        << outcome.said;
  }
}

} // namespace
