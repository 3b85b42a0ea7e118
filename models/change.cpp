//===- change.cpp - one key of a strategy with another value --------------===//

#include "models/change.h"

#include <algorithm>

#include <fmt/format.h>

namespace mtc::models {

using Json = nlohmann::ordered_json;

/// As an option takes it: lists with commas, strings without quotes.
static std::string optionText(const Json &value) {
  if (value.is_string())
    return value.get<std::string>();
  if (!value.is_array())
    return value.dump();
  std::string text;
  for (const Json &item : value)
    text += (text.empty() ? "" : ",") + item.dump();
  return text.empty() ? "\"\"" : text;
}

std::string toOptions(const Changes &changes) {
  std::string text;
  for (const auto &[key, value] : changes) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', '-');
    text += fmt::format("{}--{}", text.empty() ? "" : " ", name);
    if (value.is_boolean())
      text += value.get<bool>() ? "" : "=false";
    else
      text += " " + optionText(value);
  }
  return text;
}

Json toJson(const Changes &changes) {
  Json json = Json::object();
  for (const auto &[key, value] : changes)
    json[key] = value;
  return json;
}

static toml::array toArray(const Json &list) {
  toml::array array;
  for (const Json &item : list)
    array.push_back(item.get<int64_t>());
  return array;
}

static toml::table toTable(const Change &change) {
  toml::table table;
  if (change.value.is_array())
    table.insert(change.key, toArray(change.value));
  else if (change.value.is_boolean())
    table.insert(change.key, change.value.get<bool>());
  else if (change.value.is_number_integer())
    table.insert(change.key, change.value.get<int64_t>());
  else
    table.insert(change.key, change.value.get<std::string>());
  return table;
}

bool StrategyKeys::apply(const Change &change, Strategy &strategy) const {
  for (const Field<Strategy> &field : fields_) {
    if (field.key != change.key)
      continue;
    toml::table table = toTable(change);
    Diagnostics wrong;
    Strategy changed = strategy;
    TomlReader reader(table, "", "", wrong);
    field.read(reader, changed);
    if (wrong.empty())
      strategy = std::move(changed);
    return wrong.empty();
  }
  return false;
}

/// The values of a key that is no number.
static std::vector<Json> otherValues(const Field<Strategy> &field,
                                     const ModelSpec &spec,
                                     const Strategy &strategy) {
  std::vector<Json> values;
  for (const std::string &choice : field.kind.choices)
    values.push_back(Json::parse(choice));
  if (field.kind.tries)
    for (Json &value : field.kind.tries(spec, strategy))
      values.push_back(std::move(value));
  Json own = field.kind.valueOf(strategy);
  std::erase(values, own);
  return values;
}

bool StrategyKeys::hasEntries(const Json &value) {
  return value.is_array() && !value.empty() && value[0].is_number_integer();
}

/// Lists with one other entry; `visit` returns whether it wants more.
static void
changeEntries(const Json &list, int64_t reach,
              const std::function<bool(const Json &changed)> &visit) {
  reach = std::max<int64_t>(reach / static_cast<int64_t>(list.size()), 1);
  for (int64_t step = 1; step <= reach; ++step)
    for (size_t i = 0; i < list.size(); ++i)
      for (int64_t direction : {-1, 1}) {
        Json changed = list;
        changed[i] = list[i].get<int64_t>() + direction * step;
        if (!visit(changed))
          return;
      }
}

void StrategyKeys::walk(
    const Field<Strategy> &field, const ModelSpec &spec,
    const Strategy &strategy, int64_t reach,
    const std::function<bool(const Change &, const Strategy &)> &visit) const {
  auto tryOne = [&](const Json &value, bool &wanted) {
    Strategy changed = strategy;
    Change change{std::string(field.key), value};
    if (!apply(change, changed))
      return false;
    wanted = visit(change, changed);
    return wanted;
  };
  bool wanted = true;
  Json own = field.kind.valueOf(strategy);
  if (!own.is_number_integer()) {
    std::vector<Json> others = otherValues(field, spec, strategy);
    for (const Json &value : others)
      tryOne(value, wanted);
    if (hasEntries(own) && wanted)
      changeEntries(own, reach, [&](const Json &value) {
        // It may be none, such as one that has an entry twice.
        Strategy changed = strategy;
        if (std::find(others.begin(), others.end(), value) == others.end() &&
            apply({std::string(field.key), value}, changed))
          tryOne(field.kind.valueOf(changed), wanted);
        return wanted;
      });
    return;
  }
  auto start = own.get<int64_t>();
  if (field.kind.unset && start == 0)
    start = field.kind.unset(spec);
  for (int64_t direction : {-1, 1})
    for (int64_t step = 1; step <= reach; ++step)
      if (!tryOne(start + direction * step, wanted))
        break;
}

} // namespace mtc::models
