//===- texts_test.cpp - PTX that comes with the runtime -------------------===//

#include "runtime/cuda/ptx_texts.h"
#include "runtime/device/cuda/cuda_code.h"

#include <gtest/gtest.h>

using namespace mtc;

namespace {

TEST(PtxTexts, WhatIsNoProgramHasAll) {
  for (const char *name : {"norm", "gemm_f16", "attention_bf16_d64_sm_90a"}) {
    const char *text = cuda::ptxText(name);
    ASSERT_TRUE(text) << name;
    EXPECT_NE(std::string_view(text).find(".version"), std::string_view::npos);
  }
}

// Before the driver is asked for anything: this one has no functions.
TEST(PtxTexts, OneThatIsNotThereIsNamed) {
  EXPECT_EQ(cuda::ptxText("attention_bf16_d7"), nullptr);
  const cuda::Driver driver;
  runtime::Status status = cuda::CudaCode(driver).loadText("attention_bf16_d7");
  EXPECT_EQ(status.code(), runtime::StatusCode::internal);
  EXPECT_NE(status.message().find("expected the kernels attention_bf16_d7 in "
                                  "this program, found none"),
            std::string::npos)
      << status.message();
}

} // namespace
