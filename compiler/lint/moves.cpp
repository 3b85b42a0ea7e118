//===- moves.cpp - changes of a strategy that save memory -----------------===//

#include "compiler/lint/moves.h"

#include "compiler/schedules.h"
#include "models/validate_stages.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace mtc::compiler {

using models::Change, models::Changes, models::ModelSpec, models::Recompute,
    models::Strategy, models::StrategyKeys;

namespace {

/// Costs are of a step that halves or doubles something. Only their order
/// matters: what slows training less comes first.
constexpr double kFree = 0.5;         ///< memory for a little communication
constexpr double kGathers = 1;        ///< an all-gather for each layer
constexpr double kSmallerBatch = 1.5; ///< products get smaller
constexpr double kSplit = 3;          ///< the model is spread further
constexpr double kSecondKey = 1;
constexpr int64_t kMostTimes =
    64; ///< an axis becomes less than so many times as long

/// More ranks along an axis: some more, and whole multiples.
std::set<int64_t> longerAxes(int64_t ranks) {
  std::set<int64_t> lengths;
  for (int64_t i = 1; i < kMostTimes; ++i)
    lengths.insert({ranks + i, ranks * (i + 1)});
  return lengths;
}

void addSplits(const Strategy &strategy, std::vector<Move> &out) {
  for (const AxisInfo &axis : kAxes) {
    int64_t ranks = strategy.mesh[axis.id];
    if (axis.id == MTC_AXIS_DP) // what replicas divide is moved by `zero`
      continue;
    for (int64_t more : longerAxes(ranks)) {
      Changes changes = {{std::string(axis.name), more}};
      if (axis.id == MTC_AXIS_PP && !strategy.layersPerStage.empty())
        changes.push_back(
            {"layers_per_stage", nlohmann::ordered_json::array()});
      double times = static_cast<double>(more) / static_cast<double>(ranks);
      out.push_back({std::move(changes), kSplit * std::log2(times)});
    }
  }
}

void addBatches(const Strategy &strategy, std::vector<Move> &out) {
  int64_t own = strategy.microBatchSize;
  for (int64_t less = own - 1; less >= 1; --less)
    if (own % less == 0)
      out.push_back({{{"micro_batch_size", less}},
                     kSmallerBatch * std::log2(static_cast<double>(own) /
                                               static_cast<double>(less))});
}

/// How much of a layer a policy computes again; of families of ops, some of it.
int rungOf(Recompute::Policy policy) {
  using Policy = Recompute::Policy;
  switch (policy) {
  case Policy::none:
  case Policy::ops:
  case Policy::fit: // chosen before
    return 0;
  case Policy::selective:
    return 1;
  case Policy::layers:
  case Policy::microbatches:
    return 2;
  case Policy::full:
    return 3;
  }
  return 0;
}

/// Whether a policy may save less than the strategy's own.
bool isMore(const Recompute &policy, const Recompute &own) {
  int rung = rungOf(policy.policy), ownRung = rungOf(own.policy);
  if (policy.policy == own.policy)
    return policy.layers > own.layers || policy.microbatches > own.microbatches;
  return rung > ownRung || (rung == ownRung && rung == 2);
}

/// Those that compute more again than the own policy, of layers and of
/// microbatches a half only: the search is for a start, and `layers=N` and
/// `microbatches=N` say the rest.
void addRecompute(const ModelSpec &spec, const Strategy &strategy,
                  int64_t inFlight, std::vector<Move> &out) {
  using Policy = Recompute::Policy;
  Recompute someLayers = {Policy::layers, 0, {}},
            someMicrobatches = {Policy::microbatches, 0, {}};
  someLayers.layers = models::mostLayers(spec, strategy) / 2;
  someMicrobatches.microbatches = inFlight / 2;
  auto add = [&](const Recompute &policy, double cost) {
    if (isMore(policy, strategy.recompute))
      out.push_back({{{"recompute", toString(policy)}}, cost});
  };
  add({Policy::selective, 0, {}}, 2);
  if (someLayers.layers > 0)
    add(someLayers, 3);
  if (someMicrobatches.microbatches > 0)
    add(someMicrobatches, 3);
  add({Policy::full, 0, {}}, 4);
}

void addSwitches(const StrategyKeys &keys, const ModelSpec &spec,
                 const Strategy &strategy, std::vector<Move> &out) {
  for (const auto &field : keys.fields())
    if (field.key == "zero")
      keys.walk(field, spec, strategy, /*reach=*/8,
                [&](const Change &change, const Strategy &changed) {
                  if (changed.zero > strategy.zero)
                    out.push_back({{change}, kFree * changed.zero});
                  return true;
                });
  if (!strategy.sequenceParallel) {
    Changes changes = {{"sequence_parallel", true}};
    if (strategy.splitSaved) // they exclude each other
      changes.push_back({"distribute_saved_activations", false});
    out.push_back({std::move(changes), kFree});
  }
  if (!strategy.splitSaved)
    out.push_back({{{"distribute_saved_activations", true}}, kGathers});
}

/// What 1f1b holds is the least of all schedules without chunks.
void addSchedules(const Strategy &strategy, std::vector<Move> &out) {
  Strategy byDefault;
  resolveSchedule(byDefault);
  Changes changes;
  if (strategy.schedule != byDefault.schedule)
    changes.push_back({"schedule", byDefault.schedule});
  if (strategy.chunks > 1) {
    changes.push_back({"chunks", 1});
    if (!strategy.layersPerStage.empty())
      changes.push_back({"layers_per_stage", nlohmann::ordered_json::array()});
  }
  if (!changes.empty())
    out.push_back({std::move(changes), 1});
}

bool shareKey(const Move &a, const Move &b) {
  for (const Change &one : a.changes)
    for (const Change &other : b.changes)
      if (one.key == other.key)
        return true;
  return false;
}

} // namespace

std::vector<Move> memoryMoves(const ModelSpec &spec, const StrategyKeys &keys,
                              const Strategy &strategy, int64_t inFlight) {
  std::vector<Move> moves;
  addSwitches(keys, spec, strategy, moves);
  addSchedules(strategy, moves);
  addBatches(strategy, moves);
  addRecompute(spec, strategy, inFlight, moves);
  addSplits(strategy, moves);
  return moves;
}

std::vector<Move> upToTwo(const std::vector<Move> &moves) {
  std::vector<Move> all = moves;
  for (size_t i = 0; i < moves.size(); ++i)
    for (size_t j = i + 1; j < moves.size(); ++j) {
      if (shareKey(moves[i], moves[j]))
        continue;
      Move both = moves[i];
      both.changes.insert(both.changes.end(), moves[j].changes.begin(),
                          moves[j].changes.end());
      both.cost += moves[j].cost + kSecondKey;
      all.push_back(std::move(both));
    }
  std::stable_sort(all.begin(), all.end(), [](const Move &a, const Move &b) {
    return a.cost < b.cost;
  });
  return all;
}

} // namespace mtc::compiler
