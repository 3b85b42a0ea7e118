//===- rules.cpp - all rules of a strategy, before it is planned ----------===//

#include "compiler/lint/rules.h"

#include "compiler/schedules.h"
#include "models/ranks.h"
#include "models/resolve.h"

#include <cmath>

namespace mtc::compiler {

using models::Strategy, models::Violation;

/// What takes as long as the rules of small sizes: entries of a list, or layers
/// where ends or costs decide it, slots of a schedule, and divisions where a
/// nearest divisor is looked for.
constexpr int64_t kEntries = 64, kSlots = 16, kDivisions = 1024;

static int64_t rootOf(int64_t n) {
  return static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
}

static int64_t sizesCost(const models::ModelSpec &spec,
                         const Strategy &strategy) {
  bool decides = strategy.balancedStages || strategy.firstStageLayers ||
                 strategy.lastStageLayers;
  int64_t entries = static_cast<int64_t>(strategy.layersPerStage.size()) +
                    (decides ? spec.layers : 0);
  int64_t divisions = rootOf(strategy.globalBatchSize);
  if (strategy.ranksPerHost > 0)
    divisions += rootOf(strategy.mesh.worldSize());
  return 1 + divisions / kDivisions + entries / kEntries;
}

/// Rules of a file with a line for each stage look at each of its slots, and at
/// the forwards of all stages, which are no more than the lines have room for.
static int64_t costOf(const ScheduleFiles::File &file, int64_t stages) {
  const schedules::ScheduleLines &lines = file.lines;
  if (static_cast<int64_t>(lines.slots.size()) != stages)
    return 1;
  int64_t slots = lines.longest() * static_cast<int64_t>(lines.slots.size());
  for (const auto &line : lines.slots)
    slots += static_cast<int64_t>(line.size());
  return 1 + slots / kSlots;
}

/// Forwards of all stages; sizes fit each other.
static int64_t slotsOf(const Strategy &strategy) {
  int64_t replicas = strategy.microBatchSize * strategy.mesh[MTC_AXIS_DP];
  return strategy.globalBatchSize / replicas * strategy.virtualStages();
}

Strategy StrategyRules::onRanks(const Strategy &strategy) const {
  return ranks ? models::withRanks(strategy, *ranks) : strategy;
}

std::vector<models::Rules> StrategyRules::layers() const {
  auto ofSizes = [this](const Strategy &given) {
    Strategy strategy = onRanks(given);
    std::vector<Violation> found;
    if (ranks)
      found = models::checkRanks(strategy, *ranks);
    for (Violation &violation : models::validate(spec, strategy))
      found.push_back(std::move(violation));
    return found;
  };
  auto ofSchedule = [this](const Strategy &given) {
    Strategy strategy = models::resolve(spec, onRanks(given));
    std::vector<Violation> found;
    for (models::Diagnostic &wrong : readSchedule(strategy, files))
      found.push_back({std::move(wrong.message), "", ""});
    return found;
  };
  auto costOfSchedule = [this](const Strategy &given, bool holds) {
    if (models::isScheduleFile(given.schedule))
      return costOf(files.read(given.schedule), given.mesh.stages());
    // A name is rejected for its sizes, before any slots are made.
    return 1 + (holds ? slotsOf(onRanks(given)) / kSlots : 0);
  };
  auto costOfSizes = [this](const Strategy &given, bool) {
    return sizesCost(spec, given);
  };
  return {{ofSizes, costOfSizes}, {ofSchedule, costOfSchedule}};
}

models::Diagnostics StrategyRules::unreadable(const Strategy &strategy) const {
  models::Diagnostics wrong;
  if (models::isScheduleFile(strategy.schedule))
    for (const models::Diagnostic &each : files.read(strategy.schedule).wrong)
      if (each.errorClass == models::ErrorClass::inputRejected)
        wrong.push_back(each);
  return wrong;
}

bool StrategyRules::hold(const Strategy &strategy) const {
  for (const models::Rules &layer : layers())
    if (!layer.broken(strategy).empty())
      return false;
  return true;
}

Strategy StrategyRules::resolved(const Strategy &given) const {
  Strategy strategy = models::resolve(spec, onRanks(given));
  readSchedule(strategy, files); // its rules hold
  return strategy;
}

} // namespace mtc::compiler
