//===- rules.cpp - all rules of a strategy, before it is planned ----------===//

#include "compiler/lint/rules.h"

#include "compiler/schedules.h"
#include "models/ranks.h"
#include "models/resolve.h"

namespace mtc::compiler {

using models::Strategy, models::Violation;

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
    for (models::Diagnostic &wrong : readSchedule(strategy))
      found.push_back({std::move(wrong.message), "", ""});
    return found;
  };
  return {ofSizes, ofSchedule};
}

bool StrategyRules::hold(const Strategy &strategy) const {
  for (const models::Rules &layer : layers())
    if (!layer(strategy).empty())
      return false;
  return true;
}

Strategy StrategyRules::resolved(const Strategy &given) const {
  Strategy strategy = models::resolve(spec, onRanks(given));
  readSchedule(strategy); // its rules hold
  return strategy;
}

} // namespace mtc::compiler
