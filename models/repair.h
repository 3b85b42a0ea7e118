//===- repair.h - what would make a strategy fit ----------------*- C++ -*-===//
//
// Found by search over the rules themselves, so that no rule is written a
// second time, backwards.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_MODELS_REPAIR_H
#define MTC_MODELS_REPAIR_H

#include <functional>
#include <string>
#include <vector>

#include "models/change.h"
#include "models/validate.h"

namespace mtc::models {

/// Some of the rules of strategies.
struct Rules {
  /// Those that a strategy breaks. Called very often.
  std::function<std::vector<Violation>(const Strategy &)> broken;
  /// What a call of `broken` counts in a search, at least 1, which stands for
  /// some microseconds; `holds`: it found none. What it found counts beside.
  std::function<int64_t(const Strategy &, bool holds)> cost;
};

/// What a search may look at in all, counted and not timed, so that its result
/// depends on its input alone.
struct SearchBudget {
  int64_t limit = 500'000; ///< a second or two
  int64_t used = 0;
  bool isSpent() const { return used >= limit; }
};

/// Values of a key, ascending if they are numbers: with any of them, and
/// nothing else changed, a rule holds and none that held breaks.
struct Remedy {
  std::string key;
  std::vector<nlohmann::ordered_json> values;
};
using Remedies = std::vector<Remedy>;

/// What a search changes, and what it asks.
struct RepairSearch {
  const ModelSpec &spec;
  const StrategyKeys &keys;
  /// Rules of a layer are looked at where all those of earlier layers hold.
  std::vector<Rules> layers;
  /// Keys that stay; such as dp where it follows from the number of ranks.
  std::vector<std::string> fixed;
  /// Of all calls of the functions below; what is found when it is spent is
  /// what they return.
  SearchBudget &budget;

  /// How far from its own value a number goes, see StrategyKeys::walk.
  static constexpr int64_t kReach = 1024;
  /// How many values of a side are enough, of a key that has this one.
  static size_t enoughOfSide(const nlohmann::ordered_json &own);

  /// What the strategy breaks in the first layer where it breaks something;
  /// `looked`: how many layers were looked at.
  std::vector<Violation> broken(const Strategy &strategy,
                                size_t *looked = nullptr) const;

  /// Remedies of each of these, in their order: the nearest two values below
  /// and above of numbers, four lists with one other entry, and all others.
  std::vector<Remedies> remedies(const Strategy &strategy) const;

  static constexpr int kMostChanges = 3;
  /// At most `most` sets of changes after which all rules hold, of as few keys
  /// as possible, kMostChanges at most; see fewest_keys.h for what it looks at.
  /// Empty: none was found.
  std::vector<Changes> repairs(const Strategy &strategy, size_t most) const;

private:
  /// Of the first `count` layers; `looked`: how many were looked at.
  std::vector<Violation> brokenOf(const Strategy &strategy, size_t count,
                                  size_t *looked = nullptr) const;
  /// How many layers there are up to the first with a broken rule.
  size_t layersToBroken(const Strategy &strategy) const;
};

/// "tp = 1, 5 or 25; kv_heads = ...".
std::string toText(const Remedies &remedies);

/// {"tp": [1, 5, 25]}.
nlohmann::ordered_json toJson(const Remedies &remedies);

} // namespace mtc::models
#endif // MTC_MODELS_REPAIR_H
