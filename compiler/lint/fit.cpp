//===- fit.cpp - the nearest strategies that fit a device -----------------===//

#include "compiler/lint/fit.h"

#include "compiler/beside_plan.h"
#include "compiler/in_flight.h"
#include "compiler/lint/moves.h"
#include "compiler/memory_limit.h"
#include "runtime/base/number_text.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace mtc::compiler {

using models::Change, models::Changes, models::Strategy;

namespace {

constexpr size_t kMostFitting = 3;

/// Ranks that a replica's parameters are split over.
int64_t parts(const Strategy &strategy) {
  int64_t ranks = strategy.mesh.stages();
  for (const AxisInfo &axis : kAxes)
    if (axis.splits && !axis.data)
      ranks *= strategy.mesh[axis.id];
  return ranks;
}

/// What no split of the same parameters, gradients and states can go below:
/// each rank has its even share, and on a GPU what is beside the plan.
class LeastBytes {
public:
  LeastBytes(const Strategy &strategy, const BundlePlan &plan)
      : isForGpu(plan.config.isForGpu()) {
    int64_t ranks = parts(strategy) / strategy.mesh.stages();
    for (const ProgramPlan &program : plan.programs) {
      const auto &arenas = program.descriptor.arenas;
      weights += (arenas[MTC_ARENA_PARAMS] + arenas[MTC_ARENA_GRADS]) * ranks;
      states += arenas[MTC_ARENA_OPTIMIZER] * ranks *
                (strategy.zero > 0 ? strategy.mesh[MTC_AXIS_DP] : 1);
    }
  }
  int64_t of(const Strategy &strategy) const {
    int64_t replicas = strategy.mesh[MTC_AXIS_DP];
    int64_t planned = (weights / (strategy.zero > 1 ? replicas : 1) +
                       states / (strategy.zero > 0 ? replicas : 1)) /
                      parts(strategy);
    // No stage has fewer communicators than one in the middle.
    int64_t stage = strategy.mesh.stages() / 2;
    return planned +
           (isForGpu ? besidePlan(strategy.mesh, stage).total() : int64_t{0});
  }

private:
  bool isForGpu;
  int64_t weights = 0, states = 0; ///< of a whole replica
};

class FitFinder {
public:
  FitFinder(const FitSearch &how, const Strategy &from, const BundlePlan &plan)
      : how(how), from(from), least(from, plan), inFlight(mostInFlight(plan)),
        limit(*plan.config.deviceMemory) {}

  FitResult run() {
    for (const Move &move :
         upToTwo(memoryMoves(how.spec, how.keys, from, inFlight))) {
      if (result.tried >= how.tries || result.fitting.size() >= kMostFitting)
        break;
      Strategy strategy;
      if (isWorthATry(move.changes, strategy))
        tryOne(move.changes, strategy);
    }
    return std::move(result);
  }

private:
  /// The changed strategy, if its rules hold, all of the changes do something
  /// and it is not sure to be too large.
  bool isWorthATry(const Changes &changes, Strategy &strategy) {
    if (isFartherThanAFit(changes))
      return false;
    strategy = from;
    if (!how.fixesReplicas)
      strategy.given.erase(std::string(axisName(MTC_AXIS_DP)));
    for (const Change &change : changes)
      if (!how.keys.apply(change, strategy))
        return false;
    if (!how.rules.hold(strategy))
      return false;
    strategy = how.rules.onRanks(strategy);
    bool idle =
        (strategy.zero > from.zero && strategy.mesh[MTC_AXIS_DP] == 1) ||
        (strategy.sequenceParallel && !from.sequenceParallel &&
         strategy.mesh[MTC_AXIS_TP] == 1) ||
        (strategy.splitSaved && !from.splitSaved &&
         strategy.mesh[MTC_AXIS_TP] == 1);
    return !idle && least.of(strategy) <= limit;
  }

  /// A strategy that changes the same keys, and perhaps one more, is no nearer.
  bool isFartherThanAFit(const Changes &changes) const {
    std::set<std::string> keys;
    for (const Change &change : changes)
      keys.insert(change.key);
    auto isIn = [&](const Change &change) { return keys.contains(change.key); };
    return std::any_of(
        result.fitting.begin(), result.fitting.end(), [&](const Fitting &fit) {
          return std::all_of(fit.changes.begin(), fit.changes.end(), isIn);
        });
  }

  void tryOne(const Changes &changes, const Strategy &strategy) {
    ++result.tried;
    BundlePlan plan;
    runtime::Status status =
        planStrategy(how.spec, how.rules.resolved(strategy), how.request, plan);
    int64_t bytes = status.ok() ? mostBytes(plan) : 0;
    bool fits = status.ok() && bytes <= limit;
    if (fits)
      result.fitting.push_back({changes, strategy, bytes});
    if (how.progress)
      how.progress(fmt::format("try {} of at most {}: {}: {}", result.tried,
                               how.tries, toOptions(changes),
                               !status.ok()
                                   ? "cannot be planned"
                                   : runtime::sized(bytes) +
                                         (fits ? ", fits" : ", too much")));
  }

  const FitSearch &how;
  const Strategy &from;
  LeastBytes least;
  int64_t inFlight; ///< microbatches of `from`
  int64_t limit;
  FitResult result;
};

} // namespace

FitResult findFitting(const FitSearch &search, const Strategy &strategy,
                      const BundlePlan &plan) {
  return FitFinder(search, strategy, plan).run();
}

} // namespace mtc::compiler
