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

/// "kernel0 kernel1 of 0 2" for a group.
std::string text(const KernelGroup &group) {
  std::vector<std::string> names;
  for (const NamedKernel &each : group.kernels)
    names.push_back(each.name);
  return fmt::format("{} of {}", fmt::join(names, " "),
                     fmt::join(group.programs, " "));
}

std::vector<std::string> groupsOf(const SharedKernels &kernels) {
  std::vector<std::string> groups;
  for (const KernelGroup &group : kernels.groups)
    groups.push_back(text(group));
  return groups;
}

TEST(ShareKernels, OneOfEachStructureWhateverItsNameAndPlace) {
  auto context = makeContext();
  std::string small = kernel("kernel0", 4), large = kernel("kernel0", 8),
              other = kernel("kernel1", 8), elsewhere = large;
  elsewhere.replace(elsewhere.rfind('\n'), 1, " loc(\"layers.9.norm1\")\n");
  std::string text = program(2, elsewhere) + program(0, small) +
                     program(1, large) + program(3, "") +
                     program(4, small + other);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  ASSERT_TRUE(module);
  SharedKernels kernels = shareKernels(programsByStage(*module));
  // The second structure cannot be called as the first.
  EXPECT_EQ(groupsOf(kernels),
            (std::vector<std::string>{"kernel0 of 0 4", "kernel1 of 1 2 4"}));
  EXPECT_EQ(kernels.names[0].lookup("kernel0"), "kernel0");
  EXPECT_EQ(kernels.names[1].lookup("kernel0"), "kernel1");
  EXPECT_EQ(kernels.names[2].lookup("kernel0"), "kernel1");
  EXPECT_TRUE(kernels.names[3].empty());
  EXPECT_EQ(kernels.names[4].lookup("kernel0"), "kernel0");
  EXPECT_EQ(kernels.names[4].lookup("kernel1"), "kernel1");
}

/// A function of another program may be linked with a kernel.
TEST(ShareKernels, NoKernelIsCalledAsAFunctionOfAnyProgram) {
  auto context = makeContext();
  std::string function = "  func.func @kernel0() {\n    return\n  }\n";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      program(0, kernel("kernel0", 4)) +
          program(1, function + kernel("kernel1", 4)),
      context.get());
  ASSERT_TRUE(module);
  SharedKernels kernels = shareKernels(programsByStage(*module));
  EXPECT_EQ(groupsOf(kernels), std::vector<std::string>{"kernel1 of 0 1"});
}

TEST(ShareKernels, GroupsHaveAMost) {
  auto context = makeContext();
  std::string all;
  for (int i = 0; i < 5; ++i)
    all += kernel(fmt::format("kernel{}", i).c_str(), 4 + i);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      program(0, all) + program(1, kernel("kernel0", 5)), context.get());
  ASSERT_TRUE(module);
  EXPECT_EQ(groupsOf(shareKernels(programsByStage(*module), 2)),
            (std::vector<std::string>{"kernel0 kernel2 of 0", "kernel1 of 0 1",
                                      "kernel3 kernel4 of 0"}));
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
