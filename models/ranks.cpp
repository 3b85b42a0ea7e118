//===- ranks.cpp - a strategy for so many ranks ---------------------------===//

#include "models/ranks.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/nearest.h"

namespace mtc::models {

/// Replicas are what is left of the ranks when a model has its parts.
static bool derivesReplicas(const Strategy &strategy) {
  return !strategy.given.contains(axisName(MTC_AXIS_DP));
}

static int64_t ranksOfReplica(const Strategy &strategy) {
  return strategy.mesh.worldSize() / strategy.mesh[MTC_AXIS_DP];
}

/// "tp * cp * dp * pp", without the one of replicas if they are derived.
static std::string product(const Strategy &strategy) {
  std::string text;
  for (const AxisInfo &axis : kAxes)
    if (axis.id != MTC_AXIS_DP || !derivesReplicas(strategy))
      text += fmt::format("{}{}", text.empty() ? "" : " * ", axis.name);
  return text;
}

Strategy withRanks(Strategy strategy, int64_t ranks) {
  if (!derivesReplicas(strategy))
    return strategy;
  // Where a rest is left, the rule of ranks is broken; what a rounded number of
  // replicas would break says nothing.
  int64_t size = ranksOfReplica(strategy);
  strategy.mesh[MTC_AXIS_DP] =
      ranks % size == 0 ? std::clamp<int64_t>(ranks / size, 1, Mesh::kMaxExtent)
                        : 1;
  return strategy;
}

std::vector<Violation> checkRanks(const Strategy &strategy, int64_t ranks) {
  if (strategy.mesh.worldSize() == ranks)
    return {};
  std::string axes = product(strategy);
  if (!derivesReplicas(strategy)) {
    int64_t size = strategy.mesh.worldSize();
    return {{axes + " == ranks",
             fmt::format("ranks = {}, {} = {}", ranks, axes, size),
             fmt::format("ranks = {}", size)}};
  }
  int64_t size = ranksOfReplica(strategy);
  return {{fmt::format("ranks % ({}) == 0", axes),
           fmt::format("ranks = {}, {} = {}", ranks, axes, size),
           fmt::format("ranks = {}", joinOr(nearestMultiples(size, ranks)))}};
}

} // namespace mtc::models
