//===- fewest_keys.h - sets of few changes that keep all rules --*- C++ -*-===//
//
// A search in depth for sets of one key, then of two, then of three. It knows
// the rules only by asking: which keys a rule is about, it learns by changing
// each of them a little. A broken rule is kept again only if one of its keys
// changes, so at each step the keys of the rule that has fewest are tried, and
// what leaves rules whose keys are more than the steps left is given up. A
// change need not keep the rule by itself, nor leave the others alone: the
// product of several keys is right after the last of them.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_MODELS_FEWEST_KEYS_H
#define MTC_MODELS_FEWEST_KEYS_H

#include <bitset>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/repair.h"

namespace mtc::models {

/// One search, for one strategy. What bounds it beside the budget: numbers go
/// RepairSearch::kReach away while each change keeps a rule and breaks none,
/// else kNear; and of values that leave the same rules broken in the same way
/// only the nearest few of a side are followed.
class FewestKeys {
public:
  static constexpr int64_t kNear = 64;

  /// Looks for at most `most` sets.
  FewestKeys(const RepairSearch &search, size_t most)
      : search(search), fields(search.keys.fields()), most(most) {}

  /// All of the same number of keys, each sorted by key; nearer values first.
  std::vector<Changes> run(const Strategy &strategy);

private:
  using KeySet = std::bitset<128>; ///< by place in `fields`

  /// A strategy after changes, and what it breaks.
  struct State {
    Strategy strategy;
    Changes changes;
    KeySet changed;
    std::vector<Violation> broken;
    size_t layer = 0;    ///< where it breaks something, counted from 1
    bool isPlain = true; ///< each change kept a rule and broke none
  };

  /// At most `left` more changes, at least 1; some rule is broken.
  void descend(const State &state, int left);
  /// What changes of one key lead to from where the rule is broken.
  std::vector<State> steps(const State &state, const Violation &rule,
                           size_t key, int left);
  static void sortByDistance(std::vector<State> &states, int64_t own);
  State after(const State &state, size_t key, const Change &change,
              const Strategy &changed) const;
  bool isWorthIt(const State &before, const Violation &rule, size_t key,
                 const State &next, int left);
  /// Changes that this state needs at the least.
  int least(const State &state);
  /// The keys whose change makes something else of a broken rule.
  const KeySet &keysOf(const Violation &rule, const State &state);
  bool mayDecide(size_t key, const Violation &rule, const State &state) const;
  void keep(Changes changes);
  bool isDone() const {
    return found.size() >= most || search.budget.isSpent();
  }

  const RepairSearch &search;
  const std::vector<Field<Strategy>> &fields;
  size_t most;
  std::map<std::string, KeySet> known; ///< keysOf, by rule without numbers
  std::set<std::string> seen;          ///< sets of changes, with this depth
  std::vector<Changes> found;
};

} // namespace mtc::models
#endif // MTC_MODELS_FEWEST_KEYS_H
