//===- stage_test.cpp - what stages share when they become objects --------===//

#include "compiler/parallel.h"
#include "compiler/run_phase.h"
#include "compiler/stage.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

std::string kernel(int cols) {
  return fmt::format(
      "  rt.kernel @kernel0 rows 1 cols {} args 0 [#rt.operand<mode = full, "
      "element = f32, extent = 0>] {{\n    %x = rt.load 0 : f32\n"
      "    rt.store 0, %x : f32\n  }}\n",
      cols);
}

/// A program with one fragment, and a bucket, which no code is made of.
std::string program(int stage, const std::string &kernels) {
  return fmt::format(
      "rt.program @stage{0} stage {0} {{\n{1}"
      "  rt.bucket 0 elements 64 unpadded 64 shard 64\n"
      "  func.func @stage{0}_fwd() attributes {{pipe.fragment = "
      "#pipe.fragment<stage = {0}, chunk = 0, phase = forward>}} {{\n"
      "    return\n  }}\n}}\n",
      stage, kernels);
}

TEST(SplitParts, EqualKernelsAreEqualTextWhateverIsAround) {
  auto context = makeContext();
  std::string text = program(2, kernel(8)) + program(0, kernel(4)) +
                     program(1, kernel(8)) + program(3, "");
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  ASSERT_TRUE(module);
  std::vector<StageParts> parts = splitParts(*module);
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_NE(parts[0].kernels, parts[1].kernels);
  EXPECT_EQ(parts[1].kernels, parts[2].kernels);
  EXPECT_NE(parts[1].kernels.find("cols 8"), std::string::npos);
  EXPECT_EQ(parts[3].kernels, "");
  for (int stage = 0; stage < 4; ++stage) {
    const std::string &fragments = parts[stage].fragments;
    EXPECT_NE(fragments.find(fmt::format("@stage{}_fwd", stage)),
              std::string::npos);
    EXPECT_NE(fragments.find(fmt::format("rt.stage = {}", stage)),
              std::string::npos);
    EXPECT_EQ(fragments.find("rt.kernel"), std::string::npos);
    EXPECT_EQ(fragments.find("rt.bucket"), std::string::npos);
  }
}

TEST(ForEachJob, TheErrorIsThatOfTheFirstInOrder) {
  for (int threads : {1, 2, 8}) {
    std::vector<int> ran(20);
    Status status = forEachJob(20, threads, [&](size_t i) {
      ++ran[i];
      return i % 7 == 5 ? Status(StatusCode::failed, std::to_string(i))
                        : Status::okay();
    });
    EXPECT_EQ(status.message(), "5");
    EXPECT_EQ(ran, std::vector<int>(20, 1));
  }
  EXPECT_TRUE(forEachJob(0, 4, [](size_t) {
                return Status(StatusCode::failed, "");
              }).ok());
}

} // namespace
} // namespace mtc::compiler
