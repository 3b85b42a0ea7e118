//===- stages_test.cpp - layers of stages ---------------------------------===//

#include "models/stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace mtc::models;

namespace {

using List = std::vector<int64_t>;

/// Every list within the limits, in ascending order of its last stages first.
void allLists(const std::vector<StageLimits> &stages, int64_t layers, List list,
              std::vector<List> &out) {
  size_t left = stages.size() - list.size();
  if (left == 0) {
    if (layers == 0)
      out.push_back(list);
    return;
  }
  const StageLimits &stage = stages[left - 1];
  for (int64_t own = stage.least; own <= std::min(stage.most, layers); ++own) {
    List longer = list;
    longer.insert(longer.begin(), own);
    allLists(stages, layers - own, longer, out);
  }
}

struct Score {
  int64_t most = 0, squares = 0;
  auto operator<=>(const Score &) const = default;
};

Score scoreOf(const ModelCost &cost, const List &list) {
  Score score;
  size_t layer = 0;
  for (size_t s = 0; s < list.size(); ++s) {
    int64_t own = s == 0 ? cost.before : 0;
    own += s + 1 == list.size() ? cost.behind : 0;
    for (int64_t i = 0; i < list[s]; ++i)
      own += cost.layers[layer++];
    score.most = std::max(score.most, own);
    score.squares += own * own;
  }
  return score;
}

TEST(Stages, BalancedAreTheBestOfAllLists) {
  std::mt19937 random(7);
  auto draw = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(
                       random() % static_cast<uint64_t>(most - least + 1));
  };
  for (int round = 0; round < 400; ++round) {
    ModelCost cost{.before = draw(0, 9), .layers = {}, .behind = draw(0, 30)};
    int64_t layers = draw(1, 9);
    for (int64_t i = 0; i < layers; ++i)
      cost.layers.push_back(round % 2 ? 5 : draw(1, 9));
    std::vector<StageLimits> stages(static_cast<size_t>(draw(1, 5)),
                                    {1, layers});
    stages.front().least = stages.back().least = 0;
    if (round % 3 == 0)
      stages.back() = {1, 1};
    std::vector<List> all;
    allLists(stages, layers, {}, all);
    List found = balancedStages(cost, stages);
    if (all.empty()) {
      EXPECT_EQ(found, List{});
      continue;
    }
    // The first of equals.
    auto best = std::min_element(all.begin(), all.end(),
                                 [&](const List &a, const List &b) {
                                   return scoreOf(cost, a) < scoreOf(cost, b);
                                 });
    EXPECT_EQ(found, *best) << "round " << round;
  }
}

/// As by hand: a head of two layers' cost leaves the last stage two less.
TEST(Stages, TheHeadTakesThePlaceOfLayers) {
  ModelCost cost{.before = 0, .layers = List(14, 10), .behind = 20};
  std::vector<StageLimits> stages(4, {1, 14});
  EXPECT_EQ(balancedStages(cost, stages), (List{4, 4, 4, 2}));
}

TEST(Stages, EndsAreGivenAndTheRestShares) {
  Strategy strategy;
  strategy.mesh[MTC_AXIS_PP] = 4;
  EXPECT_EQ(layersOfStages(8, strategy), (List{2, 2, 2, 2}));
  strategy.lastStageLayers = 1;
  EXPECT_EQ(layersOfStages(10, strategy), (List{3, 3, 3, 1}));
  strategy.firstStageLayers = 3;
  EXPECT_EQ(layersOfStages(10, strategy), (List{3, 3, 3, 1}));
  strategy.layersPerStage = {4, 2, 2, 2};
  EXPECT_EQ(layersOfStages(10, strategy), (List{4, 2, 2, 2}));
}

} // namespace
