//===- run_phase_test.cpp - where MLIR's verifier looks -------------------===//

#include "compiler/front.h"
#include "compiler/run_phase.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

/// A program that has a kernel twice, which no pass looks at.
constexpr const char *twice = R"(
rt.program @stage0 stage 0 {
  rt.kernel @k rows 1 cols 4 args 0 [#rt.operand<mode = full, element = f32, extent = 0>] {
    %x = rt.load 0 : f32
    rt.store 0, %x : f32
  }
  rt.kernel @k rows 1 cols 4 args 0 [#rt.operand<mode = full, element = f32, extent = 0>] {
    %x = rt.load 0 : f32
    rt.store 0, %x : f32
  }
}
)";

class RunPhase : public testing::Test {
protected:
  Status run(IRCheck check) {
    mlir::ParserConfig unverified(context.get(), /*verifyAfterParse=*/false);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(twice, unverified);
    if (!module)
      return {StatusCode::usage, log.take()};
    mlir::TimingScope untimed;
    return runPhase(Phase::formClusters, *module, log, untimed, check);
  }

  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  DiagnosticLog log{*context};
};

TEST_F(RunPhase, NamesThePassBehindWhichIRIsInvalid) {
  Status status = run(IRCheck::eachPass);
  EXPECT_EQ(status.code(), StatusCode::internal);
  EXPECT_NE(status.message().find("phase form-clusters rejected the IR"),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("redefinition of symbol named 'k'"),
            std::string::npos)
      << status.message();
}

TEST_F(RunPhase, FindsInvalidIRBehindSeveralPhases) {
  Status status = run(IRCheck::result);
  EXPECT_EQ(status.code(), StatusCode::internal);
  EXPECT_NE(status.message().find("the phases up to form-clusters gave "
                                  "invalid IR"),
            std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("redefinition of symbol named 'k'"),
            std::string::npos)
      << status.message();
}

TEST_F(RunPhase, LooksOnlyWhereItIsTold) {
  Status status = run(IRCheck::none);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(CheckBehind, LooksAtAPlanAndAtWhatLeaves) {
  CompileOptions options;
  options.input = "gpt2-nano";
  EXPECT_EQ(checkBehind(options, Phase::partition), IRCheck::none);
  EXPECT_EQ(checkBehind(options, Phase::planMemory), IRCheck::result);
  EXPECT_EQ(checkBehind(options, Phase::verifyPlan), IRCheck::none);
  EXPECT_EQ(checkBehind(options, Phase::lowerToLLVM), IRCheck::none);
  options.to = Phase::partition;
  EXPECT_EQ(checkBehind(options, Phase::differentiate), IRCheck::none);
  EXPECT_EQ(checkBehind(options, Phase::partition), IRCheck::result);
  options.printAfter = {Phase::differentiate};
  EXPECT_EQ(checkBehind(options, Phase::differentiate), IRCheck::result);
  options.saveIR = "ir";
  EXPECT_EQ(checkBehind(options, Phase::cutStages), IRCheck::result);
}

TEST(CheckBehind, LooksBehindEachPassAtEditedIRAndWhereAsked) {
  CompileOptions options;
  options.input = "edited.mlir";
  EXPECT_EQ(checkBehind(options, Phase::partition), IRCheck::eachPass);
  EXPECT_EQ(checkBehind(options, Phase::lowerToLLVM), IRCheck::eachPass);
  options.input = "gpt2-nano";
  options.verifyEach = true;
  EXPECT_EQ(checkBehind(options, Phase::partition), IRCheck::eachPass);
  EXPECT_EQ(checkBehind(options, Phase::lowerToLLVM), IRCheck::eachPass);
}

} // namespace
} // namespace mtc::compiler
