//===- fewest_keys.cpp - sets of few changes that keep all rules ----------===//

#include "models/fewest_keys.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cstdlib>
#include <limits>

namespace mtc::models {

using Json = nlohmann::ordered_json;

static bool isSame(const Violation &a, const Violation &b) {
  return a.rule == b.rule && a.found == b.found;
}

static bool has(const std::vector<Violation> &list, const Violation &one) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Violation &each) { return isSame(each, one); });
}

static bool hasRule(const std::vector<Violation> &list,
                    const std::string &rule) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Violation &each) { return each.rule == rule; });
}

/// A rule with other numbers in its text is about the same keys.
static std::string withoutNumbers(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isdigit(c); });
  return text;
}

static std::string textOf(const std::vector<Violation> &broken) {
  std::string text;
  for (const Violation &each : broken)
    text += each.rule + '\n' + each.found + '\n';
  return text;
}

static Changes sorted(Changes changes) {
  std::sort(changes.begin(), changes.end(),
            [](const Change &a, const Change &b) { return a.key < b.key; });
  return changes;
}

std::vector<Changes> FewestKeys::run(const Strategy &strategy) {
  assert(fields.size() <= KeySet().size());
  State start;
  start.strategy = strategy;
  start.broken = search.broken(strategy, &start.layer);
  for (size_t key = 0; key < fields.size(); ++key)
    start.changed[key] = std::find(search.fixed.begin(), search.fixed.end(),
                                   fields[key].key) != search.fixed.end();
  if (start.broken.empty())
    return {};
  for (int keys = 1; keys <= RepairSearch::kMostChanges && found.empty();
       ++keys) {
    seen.clear();
    descend(start, keys);
  }
  return std::move(found);
}

void FewestKeys::descend(const State &state, int left) {
  if (isDone() || least(state) > left ||
      !seen.insert(toOptions(sorted(state.changes))).second)
    return;
  // With the last change all of them must hold.
  const Violation *rule = nullptr;
  KeySet open, common = ~state.changed;
  for (const Violation &each : state.broken) {
    KeySet own = keysOf(each, state) & ~state.changed;
    common &= own;
    if (!rule || own.count() < open.count()) {
      rule = &each;
      open = own;
    }
  }
  if (left == 1)
    open = common;
  for (size_t key = 0; key < fields.size(); ++key)
    if (open[key])
      for (const State &next : steps(state, *rule, key, left)) {
        if (isDone())
          return;
        if (next.broken.empty())
          keep(next.changes);
        else
          descend(next, left - 1);
      }
}

FewestKeys::State FewestKeys::after(const State &state, size_t key,
                                    const Change &change,
                                    const Strategy &changed) const {
  State next;
  next.strategy = changed;
  next.changes = state.changes;
  next.changes.push_back(change);
  next.changed = state.changed;
  next.changed.set(key);
  next.broken = search.broken(changed, &next.layer);
  return next;
}

/// Whether the rule holds again, and nothing else is broken by it.
static bool keepsMore(const std::vector<Violation> &before,
                      const Violation &rule,
                      const std::vector<Violation> &now) {
  return !hasRule(now, rule.rule) &&
         std::all_of(now.begin(), now.end(), [&](const Violation &each) {
           return hasRule(before, each.rule);
         });
}

bool FewestKeys::isWorthIt(const State &before, const Violation &rule,
                           size_t key, const State &next, int left) {
  if (next.broken.empty())
    return true;
  if (has(next.broken, rule) || least(next) > left - 1)
    return false;
  Json own = fields[key].kind.valueOf(before.strategy);
  const Json &value = next.changes.back().value;
  return next.isPlain || !own.is_number_integer() ||
         std::abs(own.get<int64_t>() - value.get<int64_t>()) <= kNear;
}

void FewestKeys::sortByDistance(std::vector<State> &states, int64_t own) {
  auto distance = [=](const State &to) {
    return std::abs(to.changes.back().value.get<int64_t>() - own);
  };
  std::stable_sort(states.begin(), states.end(),
                   [&](const State &a, const State &b) {
                     return distance(a) < distance(b);
                   });
}

std::vector<FewestKeys::State> FewestKeys::steps(const State &state,
                                                 const Violation &rule,
                                                 size_t key, int left) {
  std::vector<State> result;
  std::map<std::string, size_t> ofSide; // by what stays broken
  Json own = fields[key].kind.valueOf(state.strategy);
  const size_t enough = RepairSearch::enoughOfSide(own);
  const int64_t reach = state.isPlain ? RepairSearch::kReach : kNear;
  bool isNumber = own.is_number_integer(), above = false;
  auto look = [&](const Change &change, const Strategy &changed) {
    if (isNumber && !above && change.value > own) {
      above = true;
      ofSide.clear();
    }
    if (search.budget.isSpent())
      return false;
    State next = after(state, key, change, changed);
    next.isPlain = state.isPlain && next.layer >= state.layer &&
                   keepsMore(state.broken, rule, next.broken);
    if (!isWorthIt(state, rule, key, next, left))
      return true;
    size_t &count = ofSide[textOf(next.broken)];
    bool holds = next.broken.empty();
    if (count++ < enough)
      result.push_back(std::move(next));
    return !holds || count < enough;
  };
  search.keys.walk(fields[key], search.spec, state.strategy, reach, look);
  if (isNumber)
    sortByDistance(result, own.get<int64_t>());
  return result;
}

int FewestKeys::least(const State &state) {
  std::vector<KeySet> open;
  for (const Violation &each : state.broken) {
    open.push_back(keysOf(each, state) & ~state.changed);
    if (open.back().none())
      return std::numeric_limits<int>::max();
  }
  std::stable_sort(
      open.begin(), open.end(),
      [](const KeySet &a, const KeySet &b) { return a.count() < b.count(); });
  // Rules that share no key need a change each.
  KeySet taken;
  int count = 0;
  for (const KeySet &own : open)
    if ((own & taken).none()) {
      taken |= own;
      ++count;
    }
  return count;
}

bool FewestKeys::mayDecide(size_t key, const Violation &rule,
                           const State &state) const {
  constexpr int64_t kReach = 2;
  int64_t tried = 0, looked = 0, differ = 0;
  Json own = fields[key].kind.valueOf(state.strategy);
  search.keys.walk(fields[key], search.spec, state.strategy, kReach,
                   [&](const Change &, const Strategy &changed) {
                     size_t layer = 0;
                     auto now = search.broken(changed, &layer);
                     // Where an earlier layer breaks nobody knows.
                     bool isKnown = layer >= state.layer;
                     ++tried;
                     looked += isKnown;
                     differ += isKnown && !has(now, rule);
                     return differ == 0 && (!StrategyKeys::hasEntries(own) ||
                                            tried < 2 * kReach);
                   });
  return differ > 0 || (tried > 0 && looked == 0);
}

const FewestKeys::KeySet &FewestKeys::keysOf(const Violation &rule,
                                             const State &state) {
  auto [it, isNew] = known.try_emplace(withoutNumbers(rule.rule));
  if (isNew)
    for (size_t key = 0; key < fields.size(); ++key)
      it->second[key] = mayDecide(key, rule, state);
  return it->second;
}

void FewestKeys::keep(Changes changes) {
  changes = sorted(std::move(changes));
  if (std::find(found.begin(), found.end(), changes) == found.end())
    found.push_back(std::move(changes));
}

std::vector<Changes> RepairSearch::repairs(const Strategy &strategy,
                                           size_t most) const {
  return FewestKeys(*this, most).run(strategy);
}

} // namespace mtc::models
