//===- early_kernels_test.cpp - kernels that are made ahead ---------------===//

#include "compiler/kernel_objects.h"
#include "compiler/run_phase.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/ThreadPool.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mtc::compiler {
namespace {

constexpr const char kHead[] = R"(
#config = #mtc.config<model = <name = "hand", layers = 2, hidden = 8, vocab = 30, padded_vocab = 30>,
  mesh = <tp = 1, cp = 1, dp = 1, pp = 1>, batch = <micro = 2, microbatches = 2, global = 4, sequence = 8>,
  precision = f32, schedule = <name = "1f1b", chunks = 1, layers_per_stage = [2]>,
  optimizer = <kind = adamw, zero = 0, bucket_size = 40000000>, target = <device = "cpu", isa = "x86-64-v3", threads = 2>>
module attributes {mtc.config = #config} {
  rt.program @stage0 stage 0 {
)";

constexpr int kKernels = 20;

/// As many kernels, no two of them alike.
std::string plan() {
  std::string text = kHead;
  for (int i = 0; i < kKernels; ++i)
    text += fmt::format(
        "  rt.kernel @kernel{} rows 1 cols {} args 0 [#rt.operand<mode = full, "
        "element = f32, extent = 0>] {{\n    %x = rt.load 0 : f32\n"
        "    rt.store 0, %x : f32\n  }}\n",
        i, 8 + i);
  return text + "}\n}\n";
}

class EarlyKernels : public testing::Test {
protected:
  void SetUp() override {
#if LLVM_THREAD_SANITIZER_BUILD
    GTEST_SKIP() << "MLIR's own locks are not seen";
#endif
    context = makeContext(&pool);
    module = mlir::parseSourceString<mlir::ModuleOp>(plan(), context.get());
    loadCodeDialects(*context);
  }
  void TearDown() override {
    if (context)
      context->disableMultithreading();
  }

  std::vector<std::string> take(KernelObjects &objects) {
    mlir::TimingScope untimed;
    std::vector<std::string> all(objects.kernels().groups.size());
    for (size_t i = all.size(); i-- > 0;) {
      auto status = objects.take(i, untimed, all[i]);
      EXPECT_TRUE(status.ok()) << status.message();
    }
    return all;
  }

  llvm::DefaultThreadPool pool{llvm::hardware_concurrency(2)};
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::TimingScope untimed;
};

TEST_F(EarlyKernels, AreThoseThatWouldBeMadeLater) {
  ASSERT_TRUE(module);
  KernelObjects late(*module, IRCheck::none);
  std::vector<std::string> expected = take(late);
  EXPECT_GT(expected.size(), 1u);
  for (const std::string &object : expected)
    EXPECT_EQ(object.substr(1, 3), "ELF");
  for (bool joins : {false, true}) {
    KernelObjects early(*module, IRCheck::none);
    early.begin(untimed);
    if (joins)
      early.join();
    EXPECT_EQ(take(early), expected);
  }
}

/// What its kernels are in may be gone behind it.
TEST_F(EarlyKernels, WhoGivesUpWaitsForWhatIsBeingMade) {
  ASSERT_TRUE(module);
  {
    KernelObjects early(*module, IRCheck::none);
    early.begin(untimed);
  }
  module = nullptr;
}

} // namespace
} // namespace mtc::compiler
