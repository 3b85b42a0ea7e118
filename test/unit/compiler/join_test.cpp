//===- join_test.cpp - what is wrong with a joined program is found -------===//

#include "compiler/join_plans.h"
#include "compiler/run_phase.h"
#include "compiler/verify_join.h"
#include "dialects/rt/Rt.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace fs = std::filesystem;
using namespace mlir;

namespace mtc::compiler {
namespace {

/// Plans of two lengths, two stages each.
class JoinTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    plans = fs::temp_directory_path() /
            ("mtc-join-" + std::to_string(getpid()) + ".mlir");
    std::string command = std::string(MTC_BIN_DIR) +
                          "/mtc compile gpt2-nano --pp 2 --gbs 4 --seq 32,16 "
                          "--compile-to verify-plan -o " +
                          plans.string();
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  static void TearDownTestSuite() { fs::remove(plans); }

  void SetUp() override {
    context = makeContext();
    log = std::make_unique<DiagnosticLog>(*context);
    std::optional<Phase> phase;
    auto status = parseModule(plans.string(), *context, *log, module, phase);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  /// Joins the plans, lets somebody spoil the result, and gives what the proof
  /// says of it.
  std::string spoiled(llvm::function_ref<void(rt::ProgramOp)> spoil) {
    JoinProof proof(*module);
    EXPECT_TRUE(succeeded(joinPlans(*module)));
    spoil(*module->getOps<rt::ProgramOp>().begin());
    bool good = succeeded(proof.check(*module));
    std::string said = log->take();
    EXPECT_EQ(good, said.empty());
    return said;
  }

  static rt::TimelineOp timeline(rt::ProgramOp program, StringRef name) {
    return program.lookupSymbol<rt::TimelineOp>(name);
  }

  static fs::path plans;
  std::unique_ptr<MLIRContext> context;
  std::unique_ptr<DiagnosticLog> log;
  OwningOpRef<ModuleOp> module;
};
fs::path JoinTest::plans;

void expectSays(const std::string &said, const std::string &what) {
  EXPECT_NE(said.find(what), std::string::npos) << said;
}

TEST_F(JoinTest, WhatIsJoinedIsWhatWasPlanned) {
  EXPECT_EQ(spoiled([](rt::ProgramOp) {}), "");
}

TEST_F(JoinTest, ARowOfAnotherFragmentIsFound) {
  std::string said = spoiled([](rt::ProgramOp program) {
    rt::TimelineOp shorter = timeline(program, "train_seq16");
    shorter.setRows(shorter.getRows().renamed([](StringAttr name) {
      return name.getValue() == "stage0_fwd_seq16"
                 ? StringAttr::get(name.getContext(), "stage0_fwd")
                 : name;
    }));
  });
  expectSays(said, "the rows and fragments of the entry \"train_seq16\"");
}

TEST_F(JoinTest, AKernelOfAnotherLengthIsFound) {
  std::string said = spoiled([](rt::ProgramOp program) {
    auto fragment = program.lookupSymbol<func::FuncOp>("stage0_eval_seq16");
    rt::LaunchOp first = *fragment.getOps<rt::LaunchOp>().begin();
    first.setKernel("kernel0");
  });
  expectSays(said, "the rows and fragments of the entry \"eval_seq16\"");
}

TEST_F(JoinTest, AnOpThatIsGoneIsFound) {
  std::string said = spoiled([](rt::ProgramOp program) {
    auto fragment = program.lookupSymbol<func::FuncOp>("stage0_bwd");
    for (auto launch :
         llvm::make_early_inc_range(fragment.getOps<rt::LaunchOp>()))
      return launch.erase();
  });
  expectSays(said, "the rows and fragments of the entry \"train\"");
}

TEST_F(JoinTest, TheLibraryOfProductsIsThatOfThePlansThatUseIt) {
  for (auto program : plansOf(*module).back().getOps<rt::ProgramOp>())
    program.setOnednn("9.9");
  std::string said = spoiled([](rt::ProgramOp program) {
    EXPECT_EQ(program.getOnednn(), "9.9");
    program.setOnednn("");
  });
  expectSays(said, "the library of products of each of its plans");
}

TEST_F(JoinTest, ALibraryThatNoPlanUsesIsFound) {
  std::string said =
      spoiled([](rt::ProgramOp program) { program.setOnednn("9.9"); });
  expectSays(said, "expected no library of products, as in all plans, found "
                   "oneDNN 9.9");
}

TEST_F(JoinTest, TwoLibrariesAreNotJoined) {
  plansOf(*module).front().walk(
      [](rt::ProgramOp program) { program.setOnednn("1.1"); });
  plansOf(*module).back().walk(
      [](rt::ProgramOp program) { program.setOnednn("9.9"); });
  EXPECT_TRUE(failed(joinPlans(*module)));
  expectSays(log->take(),
             "expected oneDNN 1.1, as for the largest step, found 9.9");
}

TEST_F(JoinTest, EntriesAndTheirSamplesAreCompared) {
  std::string said = spoiled([](rt::ProgramOp program) {
    timeline(program, "train_seq16").setSequence(8);
    timeline(program, "eval").setMicrobatches(1);
    timeline(program, "eval_seq16").setSymName("other");
  });
  expectSays(said, "the samples of the entry \"train_seq16\"");
  expectSays(said, "the samples of the entry \"eval\"");
  expectSays(said, "the entry \"eval_seq16\"");
}

TEST_F(JoinTest, AnEntryTooManyIsFound) {
  std::string said = spoiled([](rt::ProgramOp program) {
    auto more = cast<rt::TimelineOp>(timeline(program, "eval")->clone());
    more.setSymName("more");
    program.getBody().front().push_back(more);
  });
  expectSays(said, "expected 4 entries of the joined program, found 5");
}

TEST_F(JoinTest, InputsAreCompared) {
  std::string said = spoiled([](rt::ProgramOp program) {
    for (auto slot : program.getOps<rt::InputSlotOp>())
      if (slot.getEntry() == "train_seq16")
        slot.setOffset(slot.getOffset() + 64);
  });
  expectSays(said, "the inputs of the entry \"train_seq16\"");
}

TEST_F(JoinTest, WhatLastsIsTheSameForAll) {
  std::string said = spoiled([](rt::ProgramOp program) {
    program.setLossOffset(*program.getLossOffset() + 64);
    SmallVector<int64_t> arenas(*program.getArenas());
    arenas[MTC_ARENA_WORKSPACE] -= 64;
    program.setArenas(arenas);
  });
  expectSays(said, "the parameters and buckets");
  expectSays(said, "arenas of the size");
}

} // namespace
} // namespace mtc::compiler
