//===- stages.cpp - how many layers each stage has ------------------------===//

#include "models/stages.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

namespace mtc::models {

std::vector<int64_t> evenStages(int64_t layers, int64_t stages) {
  std::vector<int64_t> list;
  for (int64_t stage = 0; stage < stages; ++stage)
    list.push_back(layers / stages + (stage < layers % stages));
  return list;
}

std::vector<StageLimits> stageLimits(int64_t layers, const Strategy &strategy) {
  auto stages = static_cast<size_t>(strategy.virtualStages());
  std::vector<StageLimits> limits(stages, {1, layers});
  limits.front().least = limits.back().least = 0;
  if (strategy.firstStageLayers)
    limits.front() = {*strategy.firstStageLayers, *strategy.firstStageLayers};
  if (strategy.lastStageLayers)
    limits.back() = {*strategy.lastStageLayers, *strategy.lastStageLayers};
  return limits;
}

std::vector<int64_t> layersOfStages(int64_t layers, const Strategy &strategy) {
  if (!strategy.layersPerStage.empty())
    return strategy.layersPerStage;
  auto stages = static_cast<size_t>(strategy.virtualStages());
  std::vector<int64_t> result(stages);
  int64_t left = layers;
  size_t begin = 0, end = stages;
  if (strategy.firstStageLayers)
    left -= result[begin++] = *strategy.firstStageLayers;
  if (strategy.lastStageLayers && end > begin)
    left -= result[--end] = *strategy.lastStageLayers;
  auto open = static_cast<int64_t>(end - begin);
  for (int64_t u = 0; u < open; ++u)
    result[begin + u] = left / open + (u < left % open);
  return result;
}

namespace {

class Balancer {
public:
  Balancer(const ModelCost &cost, const std::vector<StageLimits> &stages)
      : cost(cost), stages(stages), sums(cost.layers.size() + 1) {
    std::partial_sum(cost.layers.begin(), cost.layers.end(), sums.begin() + 1);
  }

  std::vector<int64_t> run() {
    std::optional<Table> least =
        fill(std::numeric_limits<double>::infinity(),
             [](double all, double own) { return std::max(all, own); });
    if (!least)
      return {};
    std::optional<Table> even =
        fill(least->best.back().back(),
             [](double all, double own) { return all + own * own; });
    return layersOf(*even);
  }

private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();

  /// [stages][layers]: the best of the first stages with the first layers, and
  /// how many of these the last of them has.
  struct Table {
    std::vector<std::vector<double>> best;
    std::vector<std::vector<int64_t>> last;
  };

  double costOf(size_t stage, size_t first, size_t end) const {
    int64_t own = sums[end] - sums[first];
    own += stage == 0 ? cost.before : 0;
    own += stage + 1 == stages.size() ? cost.behind : 0;
    return static_cast<double>(own);
  }

  /// None where the limits leave no list. No stage costs more than `most`.
  template <typename Join>
  std::optional<Table> fill(double most, Join join) const {
    size_t layers = cost.layers.size();
    Table table;
    table.best.assign(stages.size() + 1,
                      std::vector<double>(layers + 1, kNone));
    table.last.assign(stages.size() + 1, std::vector<int64_t>(layers + 1));
    table.best[0][0] = 0;
    for (size_t s = 0; s < stages.size(); ++s)
      for (size_t end = 0; end <= layers; ++end)
        for (int64_t own = stages[s].least;
             own <= std::min<int64_t>(stages[s].most, end); ++own) {
          size_t first = end - static_cast<size_t>(own);
          double alone = costOf(s, first, end);
          double &best = table.best[s + 1][end];
          // More layers cost more.
          if (alone > most || join(0, alone) >= best)
            break;
          double all = join(table.best[s][first], alone);
          if (all >= best)
            continue;
          best = all;
          table.last[s + 1][end] = own;
        }
    if (table.best.back().back() == kNone)
      return std::nullopt;
    return table;
  }

  std::vector<int64_t> layersOf(const Table &table) const {
    std::vector<int64_t> result(stages.size());
    size_t end = cost.layers.size();
    for (size_t s = stages.size(); s > 0; --s) {
      result[s - 1] = table.last[s][end];
      end -= static_cast<size_t>(result[s - 1]);
    }
    return result;
  }

  const ModelCost &cost;
  const std::vector<StageLimits> &stages;
  std::vector<int64_t> sums; ///< of the first layers
};

} // namespace

std::vector<int64_t> balancedStages(const ModelCost &cost,
                                    const std::vector<StageLimits> &stages) {
  return Balancer(cost, stages).run();
}

} // namespace mtc::models
