//===- plan_test.cpp - rt IR to descriptor, tables and report -------------===//

#include "compiler/descriptor.h"
#include "compiler/read_plan.h"
#include "compiler/report.h"
#include "compiler/run_phase.h"
#include "compiler/simulate.h"
#include "compiler/tables.h"
#include "dialects/rt/Rt.h"
#include "runtime/program/descriptor.h"

#include <gtest/gtest.h>

#include <cstring>

namespace mtc::compiler {
namespace {

/// The hand-written plan beside this file.
class PlanTest : public testing::Test {
protected:
  void SetUp() override {
    context = makeContext();
    log = std::make_unique<DiagnosticLog>(*context);
    auto status = parseModule(MTC_HAND_PLAN, *context, *log, module, phase);
    ASSERT_TRUE(status.ok()) << status.message();
    status = readPlan(*module, plan);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<DiagnosticLog> log;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<Phase> phase;
  BundlePlan plan;
};

TEST_F(PlanTest, TheModuleNamesItsPhase) {
  EXPECT_EQ(phase, Phase::verifyPlan);
}

TEST_F(PlanTest, RuntimeAcceptsTheDescriptors) {
  for (const ProgramPlan &program : plan.programs) {
    runtime::Descriptor d;
    auto status = runtime::parseDescriptor(describe(plan, program).dump(), d);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(d.stage, program.stage());
    EXPECT_EQ(d.planHash, plan.hash);
  }
}

TEST_F(PlanTest, DescriptorSaysWhatTheIRSays) {
  runtime::Descriptor d;
  auto status =
      runtime::parseDescriptor(describe(plan, plan.programs[0]).dump(), d);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(d.params.size(), 1u) << "a second use is no parameter";
  EXPECT_EQ(d.params[0].split.dim, 1);
  EXPECT_EQ(d.params[0].shape, (std::vector<int64_t>{12, 8}));
  EXPECT_EQ(d.params[0].split.axis, MTC_AXIS_TP);
  EXPECT_EQ(d.params[0].init.std, 0.02);
  EXPECT_EQ(d.arenas[MTC_ARENA_ACTIVATIONS], 12288);
  EXPECT_EQ(d.lossOffset, 1024);
  ASSERT_EQ(d.buckets.size(), 2u);
  EXPECT_EQ(d.buckets[0].state("exp_avg_sq")->offset, 256);
  EXPECT_EQ(d.buckets[1].secondUseOf, 0);
  ASSERT_EQ(d.gemms.size(), 1u);
  EXPECT_FALSE(d.gemms[0].ta);
  EXPECT_TRUE(d.gemms[0].tb);
  EXPECT_TRUE(d.gemms[0].beta);
  ASSERT_EQ(d.entries.size(), 1u);
  EXPECT_EQ(d.entries[0].update, (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(d.transfers, 3);
  EXPECT_EQ(d.fragments, (std::vector<std::string>{"stage0_fwd", "stage0_bwd",
                                                   "reduce", "apply"}));
}

TEST_F(PlanTest, ExportNamesItsEntryAndOneMicrobatch) {
  runtime::Descriptor d;
  auto status =
      runtime::parseDescriptor(describe(plan, plan.programs[1]).dump(), d);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(d.exports.size(), 1u);
  EXPECT_EQ(d.exports[0].entry, "eval");
  EXPECT_EQ(d.exports[0].fragment, 1);
  EXPECT_EQ(d.exports[0].shape, (std::vector<int64_t>{2, 8, 32}));
}

TEST_F(PlanTest, TablesHaveTheLayoutOfTheABI) {
  const ProgramPlan &program = plan.programs[0];
  const std::vector<MtcStep> &rows = program.timelines[0].rows;
  EXPECT_EQ(rows[0].kind, MTC_STEP_LOAD);
  EXPECT_EQ(program.slots[rows[0].slots + MTC_POOL_SAVED], 0);
  EXPECT_EQ(rows[3].kind, MTC_STEP_RUN);
  EXPECT_EQ(rows[3].fragment, 0);
  EXPECT_EQ(rows[3].microbatch, 1);
  EXPECT_EQ(program.slots[rows[3].slots + MTC_POOL_SAVED], 1);
  EXPECT_EQ(rows[4].kind, MTC_STEP_EXCHANGE);
  EXPECT_EQ(rows[4].first, 1);
  EXPECT_EQ(rows[4].count, 2);
  EXPECT_EQ(rows[6].fragment, 3);
  EXPECT_EQ(rows[6].slots, -1);

  std::vector<int64_t> transfers = transferWords(program.transfers);
  std::vector<MtcTransfer> list(3);
  ASSERT_EQ(transfers.size() * 8, list.size() * sizeof(MtcTransfer));
  std::memcpy(list.data(), transfers.data(), transfers.size() * 8);
  EXPECT_EQ(list[0].is_send, 1);
  EXPECT_EQ(list[0].peer_stage, 1);
  EXPECT_EQ(list[2].is_send, 0);
  EXPECT_EQ(list[2].arena, 3);
  EXPECT_EQ(list[2].tag, 9);
  EXPECT_EQ(list[2].offset, 8704);
  EXPECT_EQ(list[2].bytes, 512);
}

TEST_F(PlanTest, ReportCountsRowsTimesFragments) {
  nlohmann::ordered_json r = report(plan);
  EXPECT_EQ(r["ranks"], 8);
  EXPECT_EQ(r["programs"], 2);
  // 12·8 where it is owned, and the norm's 8.
  EXPECT_EQ(r["total_parameters"], 104);
  // Two sends of stage 0 and one of stage 1, on tp·dp = 4 ranks each.
  EXPECT_EQ(r["total_p2p_bytes"], 3 * 512 * 4);
  const auto &stage = r["stages"][0];
  EXPECT_EQ(stage["parameters"], 48);
  EXPECT_EQ(stage["memory"]["total"], 5 * 4096 + 12288);
  // Two forwards, 256 floats each.
  EXPECT_EQ(stage["collectives"]["tp"]["calls"], 2);
  EXPECT_EQ(stage["collectives"]["tp"]["bytes"], 2 * 256 * 4);
  // A reduce-scatter's count is one rank's part.
  EXPECT_EQ(stage["collectives"]["dp"]["bytes"], 64 * 2 * 4);
  EXPECT_EQ(stage["collectives"]["all"]["bytes"], 144); // nine limbs
}

TEST_F(PlanTest, BubbleIsWaitingTime) {
  // Only stage0_fwd has operations: two units of busy time on stage 0; stage 1
  // ends when it received the second, also after two units: 1 - 2/(2·2).
  EXPECT_DOUBLE_EQ(bubbleFraction(plan, "train").value(), 0.5);
  EXPECT_FALSE(bubbleFraction(plan, "eval").has_value());
  plan.programs[0].transfers[0].tag = 70;
  EXPECT_FALSE(bubbleFraction(plan, "train").has_value());
}

TEST_F(PlanTest, HashDependsOnThePlanAlone) {
  BundlePlan again;
  ASSERT_TRUE(readPlan(*module, again).ok());
  EXPECT_EQ(again.hash, plan.hash);
  EXPECT_EQ(plan.hash.size(), 16u);
  (*module->getOps<rt::ProgramOp>().begin()).setLossOffset(2048);
  ASSERT_TRUE(readPlan(*module, again).ok());
  EXPECT_NE(again.hash, plan.hash);
}

TEST_F(PlanTest, RejectsWhatIsNoWholePlan) {
  (*module->getOps<rt::ProgramOp>().begin()).removeArenasAttr();
  module->getBody()->back().erase();
  BundlePlan other;
  auto status = readPlan(*module, other);
  EXPECT_EQ(status.code(), runtime::StatusCode::infeasible);
  EXPECT_NE(status.message().find("arena sizes"), std::string::npos);
  EXPECT_NE(status.message().find("one rt.program per stage"),
            std::string::npos);
}

} // namespace
} // namespace mtc::compiler
