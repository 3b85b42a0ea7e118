//===- sharding_rules_test.cpp - every op on 2 ranks equals itself --------===//
#include "test/unit/evaluator/harness.h"
#include "test/unit/evaluator/instances.h"
#include "test/unit/evaluator/sharded.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

class ShardingRule : public testing::TestWithParam<Instance> {};

TEST_P(ShardingRule, HoldsOnTwoRanks) {
  OwningOpRef<ModuleOp> module = parse(withSizes(GetParam(), Sizes::even));
  ASSERT_TRUE(module);
  func::FuncOp fn = functionOf(*module);
  auto family = dyn_cast<families::FamilyOpInterface>(onlyOp(fn));
  ASSERT_TRUE(family);
  EXPECT_EQ(checkRule(fn, family.getShardingRule()), "");
}

INSTANTIATE_TEST_SUITE_P(Ops, ShardingRule, testing::ValuesIn(instances()),
                         [](auto &info) { return info.param.name; });

/// What the check says of an op under a rule that was tampered with.
std::string withRule(const std::string &name,
                     llvm::function_ref<void(families::ShardingRule &)> edit) {
  for (const Instance &instance : instances()) {
    if (instance.name != name)
      continue;
    OwningOpRef<ModuleOp> module = parse(withSizes(instance, Sizes::even));
    func::FuncOp fn = functionOf(*module);
    Operation *op = onlyOp(fn);
    families::ShardingRule rule =
        cast<families::FamilyOpInterface>(op).getShardingRule();
    edit(rule);
    return checkRule(fn, rule);
  }
  return "no such instance";
}

// Planted faults: each of these rules is wrong, and the check says where.

TEST(PlantedRule, UnblockedRowOfANorm) {
  EXPECT_NE(withRule("layer_norm", [](auto &r) { r.blocked = ""; }).find("'z'"),
            std::string::npos);
}
TEST(PlantedRule, UnblockedSequenceOfAttention) {
  EXPECT_NE(
      withRule("attention_fused_causal", [](auto &r) { r.blocked = "gd"; })
          .find("'s'"),
      std::string::npos);
}
TEST(PlantedRule, PositionsOfQueriesThatAreNotMoved) {
  EXPECT_NE(withRule("attention_separate_causal_dropout",
                     [](auto &r) { r.positions = ""; })
                .find("'s'"),
            std::string::npos);
}
TEST(PlantedRule, UnblockedKeysOfAttention) {
  EXPECT_NE(withRule("attention_separate_causal_dropout",
                     [](auto &r) { r.blocked = "d"; })
                .find("'t'"),
            std::string::npos);
}
TEST(PlantedRule, ProductOfTwoPartialSums) {
  EXPECT_NE(withRule("mul",
                     [](auto &r) {
                       r.linear = {{0, 1}};
                     })
                .find("linear"),
            std::string::npos);
}
TEST(PlantedRule, BiasAddedOncePerRank) {
  EXPECT_NE(withRule("add3",
                     [](auto &r) {
                       r.linear = {{0, 1}};
                     })
                .find("linear"),
            std::string::npos);
}
TEST(PlantedRule, ActivationOfAPartialSum) {
  EXPECT_NE(withRule("gelu", [](auto &r) { r.linear = {{0}}; }).find("linear"),
            std::string::npos);
}
TEST(PlantedRule, MaximumTakenForASum) {
  EXPECT_NE(withRule("einsum_matmul", [](auto &r) { r.contractsToMax = true; })
                .find("'e'"),
            std::string::npos);
}
TEST(PlantedRule, IndexThatIsNotMoved) {
  EXPECT_NE(withRule("embed", [](auto &r) { r.masked = ""; }).find("'v'"),
            std::string::npos);
}
TEST(PlantedRule, RepeatedIndexThatIsNotMoved) {
  for (const char *name : {"repeat1", "repeat_grad1"})
    EXPECT_NE(withRule(name, [](auto &r) { r.indexed = ""; }).find("'d'"),
              std::string::npos)
        << name;
}
TEST(PlantedRule, ContractedLetterClaimedReplicated) {
  EXPECT_NE(withRule("embed_grad",
                     [](auto &r) {
                       r.operands = {"ab", "abe"};
                       r.results = {"ve"};
                       r.masked = "";
                     })
                .find("'v'"),
            std::string::npos);
}

} // namespace
