//===- shared_fragments_test.cpp - which stages have one code -------------===//

#include "compiler/compile.h"
#include "compiler/descriptor.h"
#include "compiler/read_plan.h"
#include "compiler/shared_fragments.h"

#include "mlir/Support/Timing.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <unistd.h>

using mtc::runtime::Status;

namespace mtc::compiler {
namespace {

using Programs = std::vector<size_t>;

class SharedFragmentsTest : public testing::Test {
protected:
  /// The plan of gpt2-nano with `options`.
  void plan(const std::vector<models::StrategyOption> &strategy,
            const std::vector<std::string> &settings) {
    CompileOptions options;
    options.input = "gpt2-nano";
    options.strategy = strategy;
    options.settings = settings;
    options.to = Phase::planMemory;
    options.output = testing::TempDir() + "shared_fragments_" +
                     std::to_string(getpid()) + ".mlir";
    CompileResult result;
    Status status = compile(options, result);
    ASSERT_TRUE(status.ok()) << status.message();
    std::optional<Phase> phase;
    status = parseModule(options.output, *context, log, module, phase);
    std::filesystem::remove(options.output);
    ASSERT_TRUE(status.ok()) << status.message();
    status = readPlan(*module, bundle);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  /// By group.
  std::vector<Programs> find() {
    std::vector<rt::ProgramOp> programs = programsByStage(*module);
    for (size_t i = 0; i < programs.size(); ++i) {
      ObjectJob &job = jobs.emplace_back();
      job.program = programs[i];
      job.plan = &bundle.programs[i];
      job.descriptor = describe(bundle, *job.plan).dump();
      job.isa = bundle.config.isa;
    }
    loadCodeDialects(*context);
    Status status = shared.find(*context, jobs, untimed);
    EXPECT_TRUE(status.ok()) << status.message() << log.take();
    std::vector<Programs> groups;
    for (size_t i = 0; i < shared.size(); ++i)
      groups.push_back(shared.programs(i).vec());
    return groups;
  }

  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  DiagnosticLog log{*context};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  BundlePlan bundle;
  std::vector<ObjectJob> jobs;
  SharedFragments shared;
  mlir::TimingScope untimed;
};

/// The first has the embedding, the last the loss.
TEST_F(SharedFragmentsTest, StagesInTheMiddleHaveOneCode) {
  plan({{"pp", "6"}, {"global-batch-size", "8"}, {"micro-batch-size", "1"}},
       {"model.layers=6"});
  ASSERT_TRUE(module);
  EXPECT_EQ(find(), std::vector<Programs>{(Programs{1, 2, 3, 4})});
}

/// A stage of two layers beside stages of one.
TEST_F(SharedFragmentsTest, OtherStagesHaveTheirOwn) {
  plan({{"pp", "6"},
        {"global-batch-size", "8"},
        {"micro-batch-size", "1"},
        {"layers-per-stage", "1,1,2,1,1,1"}},
       {"model.layers=7"});
  ASSERT_TRUE(module);
  EXPECT_EQ(find(), std::vector<Programs>{(Programs{1, 3, 4})});
}

/// As people may edit it: both layers of stage 1 draw as one, so that its code
/// has one array for both.
TEST_F(SharedFragmentsTest, ThoseThatAreNotAsTheFirstAreCompared) {
  plan({{"pp", "5"}, {"global-batch-size", "5"}, {"micro-batch-size", "1"}},
       {"model.layers=10"});
  ASSERT_TRUE(module);
  programsByStage(*module)[1].walk(
      [](rt::AttentionOp op) { op.setRngLayer(3); });
  EXPECT_EQ(find(), std::vector<Programs>{(Programs{2, 3})});
}

TEST_F(SharedFragmentsTest, EqualPlansGiveEqualObjects) {
  plan({{"pp", "4"}, {"global-batch-size", "8"}, {"micro-batch-size", "1"}},
       {"model.layers=4"});
  ASSERT_TRUE(module);
  ASSERT_EQ(find().size(), 1u);
  std::string code, tables, others;
  ASSERT_TRUE(shared.makeCode(0, untimed, code).ok()) << log.take();
  ASSERT_TRUE(shared.makeTables(0, 0, untimed, tables).ok()) << log.take();
  ASSERT_TRUE(shared.makeTables(0, 1, untimed, others).ok()) << log.take();
  EXPECT_NE(tables, others);
  SharedFragments again;
  ASSERT_TRUE(again.find(*context, jobs, untimed).ok());
  std::string sameCode, sameTables;
  ASSERT_TRUE(again.makeCode(0, untimed, sameCode).ok());
  ASSERT_TRUE(again.makeTables(0, 0, untimed, sameTables).ok());
  EXPECT_EQ(sameCode, code);
  EXPECT_EQ(sameTables, tables);
}

} // namespace
} // namespace mtc::compiler
