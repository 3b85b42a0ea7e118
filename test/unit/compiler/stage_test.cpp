//===- stage_test.cpp - what stages share when they become objects --------===//

#include "compiler/parallel.h"
#include "compiler/run_phase.h"
#include "compiler/shared_kernels.h"
#include "compiler/stage.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/ThreadPool.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

std::string kernel(const char *name, int cols) {
  return fmt::format(
      "  rt.kernel @{} rows 1 cols {} args 0 [#rt.operand<mode = full, "
      "element = f32, extent = 0>] {{\n    %x = rt.load 0 : f32\n"
      "    rt.store 0, %x : f32\n  }}\n",
      name, cols);
}

std::string program(int stage, const std::string &kernels) {
  return fmt::format("rt.program @stage{0} stage {0} {{\n{1}}}\n", stage,
                     kernels);
}

TEST(NumberKernels, ByNameAndStructureWhereverTheyComeFrom) {
  auto context = makeContext();
  std::string small = kernel("kernel0", 4), large = kernel("kernel0", 8),
              other = kernel("kernel1", 8), elsewhere = large;
  elsewhere.replace(elsewhere.rfind('\n'), 1, " loc(\"layers.9.norm1\")\n");
  std::string text = program(2, elsewhere) + program(0, small) +
                     program(1, large) + program(3, "") + program(4, small) +
                     program(5, other) + program(6, large + other);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  ASSERT_TRUE(module);
  using Number = std::optional<size_t>;
  EXPECT_EQ(numberKernels(programsByStage(*module)),
            (std::vector<Number>{0, 1, 1, std::nullopt, 0, 2, 3}));
}

std::unique_ptr<mlir::MLIRContext> contextWith(llvm::ThreadPoolInterface &pool,
                                               int threads) {
  return makeContext(threads > 1 ? &pool : nullptr);
}

TEST(ForEachJob, TheErrorIsThatOfTheFirstInOrder) {
  for (int threads : {1, 2, 8}) {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(threads));
    auto context = contextWith(pool, threads);
    std::vector<int> ran(20);
    Status status = forEachJob(*context, 20, [&](size_t i) {
      ++ran[i];
      return i % 7 == 5 ? Status(StatusCode::failed, std::to_string(i))
                        : Status::okay();
    });
    EXPECT_EQ(status.message(), "5");
    EXPECT_EQ(ran, std::vector<int>(20, 1));
    EXPECT_TRUE(forEachJob(*context, 0, [](size_t) {
                  return Status(StatusCode::failed, "");
                }).ok());
  }
}

/// What is reported is an error, whatever the jobs say.
TEST(ForEachJob, ReportsComeInTheOrderOfJobs) {
  for (int threads : {1, 2, 8}) {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(threads));
    auto context = contextWith(pool, threads);
    DiagnosticLog log(*context);
    auto report = [&](size_t i) {
      mlir::emitError(mlir::UnknownLoc::get(context.get())) << "job " << i;
      return Status::okay();
    };
    std::string expected = "errors were reported\n";
    for (int i = 0; i < 20; ++i)
      expected += fmt::format("error: job {}\n", i);
    Status status = withDiagnostics(forEachJob(*context, 20, report), log);
    EXPECT_EQ(status.code(), StatusCode::internal);
    EXPECT_EQ(status.message(), expected);
  }
}

} // namespace
} // namespace mtc::compiler
