//===- repair.cpp - what would make a strategy fit ------------------------===//

#include "models/repair.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace mtc::models {

using Json = nlohmann::ordered_json;

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
      for (size_t i = 0; i < ofSide.size(); ++i)
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

size_t RepairSearch::enoughOfSide(const Json &own) {
  constexpr size_t kPerSide = 2;
  if (own.is_number_integer())
    return kPerSide;
  return StrategyKeys::hasEntries(own) ? 2 * kPerSide : SIZE_MAX;
}

std::vector<Violation> RepairSearch::brokenOf(const Strategy &strategy,
                                              size_t count,
                                              size_t *looked) const {
  std::vector<Violation> found;
  size_t i = 0;
  for (; i < count && found.empty(); ++i) {
    found = layers[i].broken(strategy);
    // Each of many findings is a text of its own.
    budget.used += layers[i].cost(strategy, found.empty()) +
                   static_cast<int64_t>(found.size());
  }
  if (looked)
    *looked = i;
  return found;
}

size_t RepairSearch::layersToBroken(const Strategy &strategy) const {
  size_t count = 0;
  while (count < layers.size() && brokenOf(strategy, count).empty())
    ++count;
  return count;
}

std::vector<Violation> RepairSearch::broken(const Strategy &strategy,
                                            size_t *looked) const {
  return brokenOf(strategy, layers.size(), looked);
}

/// Keys that may change; those of numbers, which have most values, last: then a
/// budget that they spend was there for the others.
static std::vector<const Field<Strategy> *>
fewestValuesFirst(const RepairSearch &search, const Strategy &strategy) {
  const std::vector<std::string> &fixed = search.fixed;
  std::vector<const Field<Strategy> *> order;
  for (const Field<Strategy> &field : search.keys.fields())
    if (std::find(fixed.begin(), fixed.end(), field.key) == fixed.end())
      order.push_back(&field);
  std::stable_partition(order.begin(), order.end(), [&](const auto *field) {
    return !field->kind.valueOf(strategy).is_number_integer();
  });
  return order;
}

/// In the order of the table of keys.
static void sortByKey(const StrategyKeys &keys, Remedies &remedies) {
  auto placeOf = [&](const Remedy &remedy) {
    return std::find_if(
        keys.fields().begin(), keys.fields().end(),
        [&](const auto &field) { return field.key == remedy.key; });
  };
  std::sort(remedies.begin(), remedies.end(),
            [&](const Remedy &a, const Remedy &b) {
              return placeOf(a) < placeOf(b);
            });
}

std::vector<Remedies> RepairSearch::remedies(const Strategy &strategy) const {
  const size_t count = layersToBroken(strategy);
  std::vector<Violation> before = brokenOf(strategy, count);
  std::vector<Remedies> result(before.size());
  if (before.empty())
    return result;
  for (const Field<Strategy> *field : fewestValuesFirst(*this, strategy)) {
    KeyRemedies found(before);
    Json own = field->kind.valueOf(strategy);
    bool isNumber = own.is_number_integer(), above = false;
    const size_t limit = enoughOfSide(own);
    keys.walk(*field, spec, strategy, kReach,
              [&](const Change &change, const Strategy &changed) {
                if (isNumber && !above && change.value > own) {
                  above = true;
                  found.beginSide();
                }
                if (budget.isSpent())
                  return false;
                size_t looked = 0;
                auto now = brokenOf(changed, count, &looked);
                // Where an earlier layer breaks nobody knows of this one.
                return looked < count || found.add(change.value, now, limit);
              });
    for (size_t i = 0; i < before.size(); ++i)
      if (std::vector<Json> &values = found.of(i); !values.empty()) {
        if (isNumber)
          std::sort(values.begin(), values.end());
        result[i].push_back({std::string(field->key), std::move(values)});
      }
  }
  for (Remedies &each : result)
    sortByKey(keys, each);
  return result;
}

static std::string wordOf(const Json &value) {
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
              wordOf(values[i]);
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
