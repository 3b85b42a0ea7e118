//===- roofline_models_test.cpp - floors of every shipped model -----------===//
//
// Larger models are cut to two layers, which have every call of the others.
//
//===----------------------------------------------------------------------===//

#include "shipped_models.h"

#include "compiler/model_flops.h"
#include "compiler/read_calls.h"
#include "compiler/read_plan.h"
#include "compiler/roofline.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mtc::compiler {
namespace {

using test::Strategy;

const std::vector<Strategy> &strategies() {
  static const std::vector<Strategy> all = {
      {{"tp", "2"}, {"pp", "2"}, {"dtype", "bf16"}, {"micro-batch-size", "2"}},
      {{"dp", "2"}, {"zero", "1"}, {"overlap", "grad-reduce"}},
      {{"tp", "2"}, {"cp", "2"}, {"sequence-parallel", "true"}},
      {{"pp", "2"}, {"recompute", "full"}, {"dtype", "bf16"}}};
  return all;
}

bool has(const Strategy &strategy, const std::string &option) {
  for (const auto &[name, value] : strategy)
    if (name == option)
      return true;
  return false;
}

std::string textOf(const Strategy &strategy) {
  std::string text;
  for (const auto &[name, value] : strategy)
    text += " --" + name + " " + value;
  return text;
}

class Models : public testing::TestWithParam<std::string> {
protected:
  void compileTo(const Strategy &strategy, BundlePlan &plan) {
    auto context = makeContext();
    DiagnosticLog log(*context);
    mlir::OwningOpRef<mlir::ModuleOp> module;
    runtime::Status status =
        test::planOf(GetParam(), strategy, *context, log, module);
    ASSERT_TRUE(status.ok()) << status.message();
    status = readPlan(*module, plan);
    ASSERT_TRUE(status.ok()) << status.message();
  }
};

/// Of the forward and what gradients take, by the rule of modelFlops: attention
/// in full, three times its forward.
double modelFlopsOf(const std::vector<PlanCalls> &calls) {
  double flops = 0;
  for (const PlanCalls &row : calls)
    if (row.op == "gemm")
      flops += row.flops;
    else if (row.op == "attention" && row.name.starts_with("forward"))
      flops += 3 * row.unmaskedFlops;
  return flops;
}

void expectNumbers(const PlanCalls &row) {
  SCOPED_TRACE(row.op + " " + row.name);
  EXPECT_GE(row.calls, 1);
  for (double number : {row.flops, row.unmaskedFlops, row.bytes, row.linkBytes})
    EXPECT_TRUE(std::isfinite(number) && number >= 0) << number;
  EXPECT_LE(row.flops, row.unmaskedFlops);
  if (row.op == "gemm" || row.op == "attention") {
    EXPECT_GT(row.flops, 0);
    EXPECT_FALSE(row.factors.empty());
  }
  if (row.op == "launch" || row.op == "zero" || row.op == "gemm" ||
      row.op == "attention") {
    EXPECT_GT(row.bytes, 0);
  }
}

void expectFloors(const nlohmann::ordered_json &roofline) {
  ASSERT_EQ(roofline["cards"].size(), std::size(kGpuCards));
  for (const auto &card : roofline["cards"]) {
    double busy = card["busy_seconds"], step = card["step_seconds"];
    EXPECT_GT(busy, 0);
    EXPECT_GE(step, busy);
    EXPECT_LT(step, 3600);
    EXPECT_GT(card["mfu"], 0);
    EXPECT_FALSE(card["largest"].empty());
    // No longer than all calls one after the other, nor than any of them.
    double sum = 0;
    for (const auto &[bound, seconds] : card["bounds"].items())
      sum += seconds.get<double>();
    EXPECT_LE(busy, sum * (1 + 1e-9));
    EXPECT_GE(busy, card["largest"][0]["seconds"].get<double>());
  }
}

TEST_P(Models, HaveFloors) {
  for (const Strategy &strategy : strategies()) {
    if (GetParam() == "gpt2-1558m" && has(strategy, "tp"))
      continue; // 25 heads
    SCOPED_TRACE(GetParam() + textOf(strategy));
    BundlePlan plan;
    ASSERT_NO_FATAL_FAILURE(compileTo(strategy, plan));
    double flops = 0;
    for (const ProgramPlan &program : plan.programs) {
      std::vector<PlanCalls> calls = callsOfStep(program);
      for (const PlanCalls &row : calls)
        expectNumbers(row);
      flops += modelFlopsOf(calls);
    }
    const PlanConfig &c = plan.config;
    flops *= static_cast<double>(c.mesh.worldSize() / c.mesh.stages());
    std::vector<runtime::ModelFlops> model = modelFlops(plan);
    ASSERT_EQ(model.size(), 1U);
    double wanted =
        model[0].perToken * static_cast<double>(c.globalBatch * c.seq);
    if (has(strategy, "recompute"))
      EXPECT_GT(flops, 1.1 * wanted);
    else
      EXPECT_NEAR(flops / wanted, 1, 1e-12);
    expectFloors(rooflineReport(plan));
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, Models,
                         testing::ValuesIn(test::shippedModels()),
                         [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c)))
                               c = '_';
                           return name;
                         });

} // namespace
} // namespace mtc::compiler
