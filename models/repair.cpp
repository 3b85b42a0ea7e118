//===- repair.cpp - what would make a strategy fit ------------------------===//

#include "models/repair.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>

namespace mtc::models {

using Json = nlohmann::ordered_json;

static constexpr int64_t kReach = 1024;
static constexpr size_t kPerSide = 2;

static std::set<std::string> rulesOf(const std::vector<Violation> &violations) {
  std::set<std::string> rules;
  for (const Violation &violation : violations)
    rules.insert(violation.rule);
  return rules;
}

namespace {
/// Remedies of one key for all violations at once.
class KeyRemedies {
public:
  explicit KeyRemedies(const std::vector<Violation> &before)
      : before(before), rules(rulesOf(before)), values(before.size()),
        ofSide(before.size()) {}

  void beginSide() { std::fill(ofSide.begin(), ofSide.end(), 0); }

  /// Whether some violation lacks values of this side.
  bool add(const Json &value, const std::vector<Violation> &now, size_t limit) {
    std::set<std::string> broken = rulesOf(now);
    if (std::includes(rules.begin(), rules.end(), broken.begin(), broken.end()))
      for (size_t i = 0; i < before.size(); ++i)
        if (!broken.contains(before[i].rule) && ofSide[i] < limit) {
          values[i].push_back(value);
          ++ofSide[i];
        }
    return std::any_of(ofSide.begin(), ofSide.end(),
                       [=](size_t count) { return count < limit; });
  }

  std::vector<Json> &of(size_t violation) { return values[violation]; }

private:
  const std::vector<Violation> &before;
  std::set<std::string> rules;
  std::vector<std::vector<Json>> values;
  std::vector<size_t> ofSide;
};
} // namespace

std::vector<Violation> RepairSearch::brokenOf(const Strategy &strategy,
                                              size_t count) const {
  std::vector<Violation> found;
  for (size_t i = 0; i < count && found.empty(); ++i) {
    found = layers[i].broken(strategy);
    budget.used += layers[i].cost(strategy, found.empty());
  }
  return found;
}

size_t RepairSearch::layersToBroken(const Strategy &strategy) const {
  size_t count = 0;
  while (count < layers.size() && brokenOf(strategy, count).empty())
    ++count;
  return count;
}

std::vector<Violation> RepairSearch::broken(const Strategy &strategy) const {
  return brokenOf(strategy, layers.size());
}

std::vector<Remedies> RepairSearch::remedies(const Strategy &strategy) const {
  const size_t count = layersToBroken(strategy);
  std::vector<Violation> before = brokenOf(strategy, count);
  std::vector<Remedies> result(before.size());
  for (const Field<Strategy> &field : keys.fields()) {
    if (before.empty() ||
        std::find(fixed.begin(), fixed.end(), field.key) != fixed.end())
      continue;
    KeyRemedies found(before);
    Json own = field.kind.valueOf(strategy);
    bool isNumber = own.is_number_integer(), above = false;
    keys.walk(field, spec, strategy, kReach,
              [&](const Change &change, const Strategy &changed) {
                if (isNumber && !above && change.value > own) {
                  above = true;
                  found.beginSide();
                }
                return !budget.isSpent() &&
                       found.add(change.value, brokenOf(changed, count),
                                 isNumber ? kPerSide : SIZE_MAX);
              });
    for (size_t i = 0; i < before.size(); ++i)
      if (std::vector<Json> &values = found.of(i); !values.empty()) {
        if (isNumber)
          std::sort(values.begin(), values.end());
        result[i].push_back({std::string(field.key), std::move(values)});
      }
  }
  return result;
}

namespace {
/// Changes in depth: a remedy of the first rule that is broken, then of the
/// first that still is.
class Repairer {
public:
  Repairer(const RepairSearch &search, size_t most)
      : search(search), most(most) {}

  void run(const Strategy &strategy, const Changes &changes, int depth) {
    if (search.budget.isSpent())
      return;
    if (search.broken(strategy).empty())
      return keep(changes);
    if (depth == 0)
      return;
    for (const Remedy &remedy : remediesAfter(changes, strategy)) {
      bool again = std::any_of(
          changes.begin(), changes.end(),
          [&](const Change &change) { return change.key == remedy.key; });
      for (const Json &value : again ? std::vector<Json>() : remedy.values) {
        if (found.size() >= most)
          return;
        Strategy changed = strategy;
        Changes longer = changes;
        longer.push_back({remedy.key, value});
        if (search.keys.apply(longer.back(), changed))
          run(changed, longer, depth - 1);
      }
    }
  }

  std::vector<Changes> found;

private:
  static void sort(Changes &changes) {
    std::sort(changes.begin(), changes.end(),
              [](const Change &a, const Change &b) { return a.key < b.key; });
  }

  /// Those of the first rule that is broken. The same changes come back in
  /// another order, and with each depth.
  const Remedies &remediesAfter(Changes changes, const Strategy &strategy) {
    sort(changes);
    auto [it, isNew] = known.try_emplace(toOptions(changes));
    if (isNew)
      it->second = search.remedies(strategy).front();
    return it->second;
  }

  void keep(Changes changes) {
    sort(changes);
    if (std::find(found.begin(), found.end(), changes) == found.end())
      found.push_back(std::move(changes));
  }

  const RepairSearch &search;
  size_t most;
  std::map<std::string, Remedies> known; ///< by the changes before
};
} // namespace

std::vector<Changes> RepairSearch::repairs(const Strategy &strategy,
                                           size_t most) const {
  Repairer repairer(*this, most);
  for (int depth = 1; depth <= 3 && repairer.found.empty(); ++depth)
    repairer.run(strategy, {}, depth);
  return std::move(repairer.found);
}

static std::string textOf(const Json &value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string toText(const Remedies &remedies) {
  std::string text;
  for (const auto &[key, values] : remedies) {
    text += fmt::format("{}{} = ", text.empty() ? "" : "; ", key);
    for (size_t i = 0; i < values.size(); ++i)
      text += (i == 0                   ? ""
               : i + 1 == values.size() ? " or "
                                        : ", ") +
              textOf(values[i]);
  }
  return text;
}

Json toJson(const Remedies &remedies) {
  Json json = Json::object();
  for (const auto &[key, values] : remedies)
    json[key] = values;
  return json;
}

} // namespace mtc::models
