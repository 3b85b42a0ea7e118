//===- partitioned_test.cpp - whole models, split by the passes -----------===//
//
// import, differentiate, annotate, propagate, insert, partition; then the loss
// and every parameter gradient, put together from the ranks, equal those of
// the unsharded model. Dropping any one collective shows.
//
//===----------------------------------------------------------------------===//
#include "test/evaluator/layout.h"
#include "test/unit/evaluator/model.h"

#include "dialects/tfm/Tfm.h"
#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <array>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

/// Ten times what double sums of some hundred terms of order 1 lose; gradients
/// that matter are above 1e-4.
constexpr double kTolerance = 1e-12;

struct Split {
  Variant variant;
  int64_t dp, tp, cp;
};
std::string nameOf(const Split &split) {
  return split.variant.name + "_dp" + std::to_string(split.dp) + "_tp" +
         std::to_string(split.tp) +
         (split.cp > 1 ? "_cp" + std::to_string(split.cp) : "");
}
void PrintTo(const Split &split, std::ostream *out) { *out << nameOf(split); }

/// Whether two ranks along tp have their own heads of keys, or four do with
/// some of them repeated.
bool fits(const models::ModelSpec &spec, int64_t tp) {
  return spec.attention.qkv == models::QkvKind::separate ||
         spec.kvHeads % tp == 0;
}

std::vector<Split> splits() {
  std::vector<Split> all;
  for (const Variant &variant : variants())
    for (auto [dp, tp, cp] : {std::array<int64_t, 3>{1, 2, 1},
                              {2, 1, 1},
                              {2, 2, 1},
                              {1, 1, 2},
                              {2, 2, 2},
                              {1, 4, 1}})
      if (fits(variant.spec, tp))
        all.push_back({variant, dp, tp, cp});
  return all;
}

bool run(ModuleOp module,
         std::initializer_list<std::unique_ptr<Pass> (*)()> passes) {
  PassManager manager(module.getContext());
  for (auto *create : passes)
    manager.addPass(create());
  return succeeded(manager.run(module));
}

class Partitioned : public testing::TestWithParam<Split> {
protected:
  void SetUp() override {
    const Split &split = GetParam();
    module = import(split.variant, tinyStrategy(split.dp, split.tp, split.cp));
    ASSERT_TRUE(differentiate(*module));
    func::FuncOp fn = microbatch(*module);
    mesh = eval::Mesh(dist::meshOf(fn));
    inputs = modelInputs(fn, split.variant.spec);
    auto results = eval::evaluateUnsharded(fn, inputs, stepBlock());
    ASSERT_TRUE(succeeded(results));
    expected = *results;
    ASSERT_TRUE(run(*module, {passes::createAnnotateShardings,
                              passes::createPropagateShardings,
                              passes::createInsertCollectives}));
    readShardings(microbatch(*module));
    ASSERT_TRUE(run(
        *module, {passes::createPartition, passes::createVerifyPartitioned}));
  }

  void readShardings(func::FuncOp fn) {
    auto of = [](Value v) {
      auto rank = cast<RankedTensorType>(v.getType()).getRank();
      auto sharding = dist::shardingOf(v);
      return sharding ? sharding
                      : dist::ShardingAttr::replicated(v.getContext(), rank);
    };
    for (Value argument : fn.getArguments())
      argumentShardings.push_back(of(argument));
    for (Value v : fn.getBody().front().getTerminator()->getOperands())
      resultShardings.push_back(of(v));
  }

  /// What each rank is given; replicas start at their own first sample.
  std::vector<eval::Ranks> localInputs() {
    std::vector<eval::Ranks> all;
    int64_t samples = 4 / GetParam().dp;
    for (auto [x, sharding] : llvm::zip(inputs, argumentShardings)) {
      all.push_back(eval::distribute(x, sharding, mesh));
      bool isSample = x.isInteger() && x.rank() == 0;
      for (int64_t rank = 0; isSample && rank < mesh.ranks(); ++rank)
        all.back()[rank].ints[0] += mesh.coordinate(rank, "dp") * samples;
    }
    return all;
  }

  /// Empty if all results agree, else what does not.
  std::string compare(func::FuncOp fn) {
    auto found = eval::evaluateFunction(fn, mesh, localInputs(), stepBlock());
    if (failed(found))
      return "the evaluation failed";
    for (size_t i = 0; i < expected.size(); ++i) {
      std::string name = "loss", error;
      if (auto grad = fn.getResultAttrOfType<tfm::GradAttr>(i, "tfm.grad"))
        name = "gradient of " + grad.getParam().str();
      auto whole = eval::reassemble(found->results[i], resultShardings[i], mesh,
                                    kTolerance, error);
      if (failed(whole))
        return name + ": " + error;
      double off = eval::difference(*whole, expected[i]);
      if (!(off <= kTolerance))
        return name + " is off by " + std::to_string(off);
    }
    return "";
  }

  OwningOpRef<ModuleOp> module;
  eval::Mesh mesh;
  std::vector<eval::Tensor> inputs, expected;
  std::vector<dist::ShardingAttr> argumentShardings, resultShardings;
};

TEST_P(Partitioned, EqualsTheUnsharded) {
  ASSERT_EQ(resultShardings.size(), expected.size());
  EXPECT_EQ(compare(microbatch(*module)), "");
}

TEST_P(Partitioned, NeedsEveryAllReduce) {
  std::vector<dist::AllReduceOp> all;
  microbatch(*module).walk([&](dist::AllReduceOp op) { all.push_back(op); });
  EXPECT_EQ(all.empty(), GetParam().tp == 1);
  for (dist::AllReduceOp op : all) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op.getResult().getUses())
      uses.push_back(&use);
    for (OpOperand *use : uses)
      use->set(op.getX());
    EXPECT_NE(compare(microbatch(*module)), "")
        << "without " << op->getName().getStringRef().str() << " serving "
        << op.getServes().str();
    for (OpOperand *use : uses)
      use->set(op.getResult());
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Partitioned, testing::ValuesIn(splits()),
                         [](auto &info) { return nameOf(info.param); });

} // namespace
