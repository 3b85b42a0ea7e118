//===- without_effect_test.cpp - choices that change nothing --------------===//

#include "models/without_effect.h"

#include "models/strategy_fields.h"

#include <gtest/gtest.h>

using namespace mtc::models;

namespace {

/// The keys of what a strategy says in vain.
std::vector<std::string>
idleKeys(const std::vector<std::pair<MtcAxis, int64_t>> &mesh) {
  Strategy strategy;
  strategy.sequenceParallel = strategy.splitSaved = strategy.commThread = true;
  strategy.zero = 1;
  strategy.overlap = {"p2p", "grad-reduce", "param-gather"};
  strategy.given = {"overlap"};
  for (auto [axis, ranks] : mesh)
    strategy.mesh[axis] = ranks;
  std::vector<std::string> keys;
  for (const std::string &idle : choicesWithoutEffect(strategy))
    keys.push_back(idle.substr(0, idle.find(':')));
  return keys;
}

using Keys = std::vector<std::string>;

TEST(ChoicesWithoutEffect, OfOneRankAreAll) {
  EXPECT_EQ(idleKeys({}),
            (Keys{"sequence_parallel", "distribute_saved_activations", "zero",
                  "overlap = grad-reduce", "overlap = param-gather",
                  "overlap = p2p", "comm_thread"}));
}

TEST(ChoicesWithoutEffect, EachAxisGivesSomeAnEffect) {
  EXPECT_EQ(idleKeys({{MTC_AXIS_TP, 2}}),
            (Keys{"zero", "overlap = param-gather", "overlap = p2p"}));
  EXPECT_EQ(idleKeys({{MTC_AXIS_DP, 2}}),
            (Keys{"sequence_parallel", "distribute_saved_activations",
                  "overlap = p2p"}));
  EXPECT_EQ(idleKeys({{MTC_AXIS_CP, 2}}),
            (Keys{"sequence_parallel", "distribute_saved_activations", "zero",
                  "overlap = param-gather", "overlap = p2p"}));
  EXPECT_EQ(idleKeys({{MTC_AXIS_TP, 2}, {MTC_AXIS_DP, 2}, {MTC_AXIS_PP, 2}}),
            Keys{});
}

TEST(ChoicesWithoutEffect, EpiloguesAreOfADevice) {
  const std::vector<std::string> none,
      idle = {"gemm_epilogues: bias and gelu are of GPUs, pointwise of a cpu "
              "whose products are our own"};
  auto choices = [](std::vector<std::string> epilogues, std::string target,
                    std::string gemm = "own") {
    Strategy strategy;
    strategy.given = {"gemm_epilogues"};
    strategy.gemmEpilogues = std::move(epilogues);
    strategy.target = std::move(target);
    strategy.gemm = std::move(gemm);
    return choicesWithoutEffect(strategy);
  };
  EXPECT_EQ(choices({"bias", "pointwise"}, "cpu"), none);
  EXPECT_EQ(choices({}, "cpu"), none);
  EXPECT_EQ(choices({"bias"}, "cpu"), idle);
  EXPECT_EQ(choices({"pointwise"}, "cpu", "onednn"), idle);
  EXPECT_EQ(choices({"bias"}, "cuda:sm_90"), none);
  EXPECT_EQ(choices({"pointwise"}, "cuda:sm_90"), idle);
}

TEST(ChoicesWithoutEffect, ProductsOfAGpuAreItsLibrarys) {
  Strategy strategy;
  strategy.gemm = "onednn";
  EXPECT_EQ(choicesWithoutEffect(strategy), std::vector<std::string>{});
  strategy.target = "cuda:sm_90";
  EXPECT_EQ(
      choicesWithoutEffect(strategy),
      std::vector<std::string>{"gemm: products of a GPU are its library's"});
}

TEST(ChoicesWithoutEffect, OurOwnProductsReadPackedWeights) {
  const std::vector<std::string> none,
      idle = {"prepack: only products of a cpu that are our own read packed "
              "weights"};
  Strategy strategy;
  strategy.prepack = "auto";
  EXPECT_EQ(choicesWithoutEffect(strategy), none);
  strategy.gemm = "onednn";
  EXPECT_EQ(choicesWithoutEffect(strategy), idle);
  strategy.gemm = "own";
  strategy.target = "cuda:sm_90";
  EXPECT_EQ(choicesWithoutEffect(strategy), idle);
}

TEST(ChoicesWithoutEffect, TransfersOfGpusAreInOrder) {
  Strategy strategy;
  strategy.mesh[MTC_AXIS_PP] = 2;
  strategy.target = "cuda:sm_90";
  EXPECT_EQ(choicesWithoutEffect(strategy), std::vector<std::string>{});
  strategy.given = {"overlap"};
  EXPECT_EQ(choicesWithoutEffect(strategy),
            std::vector<std::string>{"overlap = p2p: transfers of GPUs take "
                                     "place in the order of the program"});
}

TEST(ChoicesWithoutEffect, BucketsAreCutByZeroOnly) {
  Strategy strategy;
  strategy.bucketLayout = "dense";
  EXPECT_EQ(choicesWithoutEffect(strategy).size(), 1u);
  strategy.zero = 1;
  strategy.mesh[MTC_AXIS_DP] = 2;
  EXPECT_EQ(choicesWithoutEffect(strategy), std::vector<std::string>{});
}

/// What is the default was not chosen.
TEST(ChoicesWithoutEffect, DefaultsAreNoChoices) {
  EXPECT_EQ(choicesWithoutEffect(Strategy()), std::vector<std::string>{});
}

} // namespace
