//===- kernel_sets_test.cpp - which kernels a program is linked with ------===//

#include "compiler/kernel_sets.h"
#include "compiler/read_plan.h"
#include "compiler/run_phase.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace mtc::compiler {
namespace {

using Symbols = std::vector<std::string>;

constexpr const char kAttention[] = R"(
func.func @attention(%q: tensor<1x32x2x3x16xf32>, %s: i64,
                     %e: tensor<1x32x2x16xf32>, %f: tensor<1x2x32xf32>) {
  %o, %l = rt.attention(%q) into (%e, %f) at %s, %s {backward = false,
    causal = true, global_heads = 2 : i64, rate = 0.0 : f64,
    rng_layer = 1 : i64, scale = 0.25 : f64, site = 1 : i64}
    : (tensor<1x32x2x3x16xf32>, tensor<1x32x2x16xf32>, tensor<1x2x32xf32>,
       i64, i64) -> (tensor<1x32x2x16xf32>, tensor<1x2x32xf32>)
  return
})";

/// The hand-written plan beside this file, attention in f32 put into stage 0.
/// Plans that mtc makes have attention in the type of their weights alone.
class KernelSets : public testing::Test {
protected:
  void SetUp() override {
    std::optional<Phase> phase;
    auto status = parseModule(MTC_HAND_PLAN, *context, log, module, phase);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(readPlan(*module, plan).ok());
    attention =
        mlir::parseSourceString<mlir::ModuleOp>(kAttention, context.get());
    ASSERT_TRUE(attention);
    stage0 = *module->getOps<rt::ProgramOp>().begin();
    auto function = *attention->getOps<mlir::func::FuncOp>().begin();
    stage0.getBody().front().push_back(function->clone());
    plan.config.dtype = "bf16";
    plan.config.isa = "x86-64-v3";
  }

  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  DiagnosticLog log{*context};
  mlir::OwningOpRef<mlir::ModuleOp> module, attention;
  rt::ProgramOp stage0;
  BundlePlan plan;
};

TEST_F(KernelSets, OfACpuAreThoseOfEachType) {
  ProgramPlan program;
  runtime::GemmInfo product;
  product.ab = MTC_F16;
  program.descriptor.gemms = {product};
  RuntimeKernels kernels = runtimeKernelsOf(plan.config, stage0, program);
  EXPECT_EQ(
      kernels.sets,
      (Symbols{"mtc_kernels_x86_64_v3", "mtc_products_x86_64_v3_bf16",
               "mtc_products_x86_64_v3_f32", "mtc_products_x86_64_v3_fp16"}));
  EXPECT_EQ(kernels.texts, Symbols());
}

// Those of two chips: programs_are_lean.
TEST_F(KernelSets, OfAGpuAreTexts) {
  plan.config.device = "cuda";
  ProgramPlan program;
  program.gpu.code.resize(1);
  program.gpu.code[0].chip = "sm_80";
  RuntimeKernels kernels = runtimeKernelsOf(plan.config, stage0, program);
  EXPECT_EQ(kernels.sets, Symbols());
  EXPECT_EQ(kernels.texts,
            (Symbols{"mtc_gpu_text_attention_f32_d32", "mtc_gpu_text_norm"}));
}

} // namespace
} // namespace mtc::compiler
