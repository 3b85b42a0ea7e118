//===- strategy.cpp - how to spread a model -------------------------------===//

#include "models/strategy.h"

#include <algorithm>
#include <charconv>

#include "models/key_names.h"
#include "models/strategy_fields.h"

namespace mtc::models {

std::vector<int64_t> Strategy::globalBatches() const {
  std::vector<int64_t> all = {globalBatchSize};
  all.insert(all.end(), smallerGlobalBatches.begin(),
             smallerGlobalBatches.end());
  return all;
}

std::vector<int64_t> Strategy::seqLengths() const {
  std::vector<int64_t> all = {seqLength};
  all.insert(all.end(), shorterSeqLengths.begin(), shorterSeqLengths.end());
  return all;
}

std::vector<Strategy> Strategy::ofEachShape() const {
  std::vector<Strategy> all;
  for (int64_t length : seqLengths())
    for (int64_t batch : globalBatches()) {
      Strategy &own = all.emplace_back(*this);
      own.seqLength = length;
      own.shorterSeqLengths.clear();
      own.globalBatchSize = batch;
      own.smallerGlobalBatches.clear();
    }
  return all;
}

bool isScheduleFile(std::string_view schedule) {
  return schedule.find_first_of("/.") != std::string_view::npos;
}

std::map<LogicalAxis, MeshAxis>
Strategy::meshAxes(std::string_view name,
                   const std::vector<LogicalAxis> &axes) const {
  std::map<LogicalAxis, MeshAxis> result;
  for (LogicalAxis axis : axes)
    result[axis] = shard.meshAxis(axis);
  for (const ShardOverride &override : overrides) {
    if (!matches(override.pattern, name))
      continue;
    for (auto [axis, mesh] : override.axes)
      if (result.count(axis))
        for (auto &[other, over] : result)
          if (over == mesh)
            over = MeshAxis::none;
    for (auto [axis, mesh] : override.axes)
      if (auto own = result.find(axis); own != result.end())
        own->second = mesh;
  }
  return result;
}

bool Strategy::gathersOutput(std::string_view name) const {
  return std::any_of(
      overrides.begin(), overrides.end(), [&](const ShardOverride &override) {
        return override.gatherOutput && matches(override.pattern, name);
      });
}

const std::string &Strategy::dtypeOf(std::string_view name) const {
  const std::string *found = &dtype;
  for (const ShardOverride &override : overrides)
    if (!override.dtype.empty() && matches(override.pattern, name))
      found = &override.dtype;
  return *found;
}

std::string Strategy::groupOf(std::string_view name) const {
  std::string found;
  for (const ShardOverride &override : overrides)
    if (!override.group.empty() && matches(override.pattern, name))
      found = override.group;
  return found;
}

bool Strategy::decays(std::string_view name, bool byDefault) const {
  bool found = byDefault;
  for (const ShardOverride &override : overrides)
    if (override.decay && matches(override.pattern, name))
      found = *override.decay;
  return found;
}

std::vector<std::string> Strategy::groups() const {
  std::vector<std::string> names;
  for (const ShardOverride &override : overrides)
    if (!override.group.empty() &&
        std::find(names.begin(), names.end(), override.group) == names.end())
      names.push_back(override.group);
  return names;
}

int64_t parseBytes(std::string_view text) {
  int64_t number = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0)
    return -1;
  std::string_view unit = text.substr(end - text.data());
  static constexpr std::pair<std::string_view, int64_t> units[] = {
      {"", 1},
      {"B", 1},
      {"KiB", 1 << 10},
      {"MiB", 1 << 20},
      {"GiB", 1 << 30},
      {"TiB", int64_t{1} << 40},
      {"KB", 1000},
      {"MB", 1000'000},
      {"GB", 1000'000'000},
      {"TB", 1000'000'000'000}};
  for (auto [name, factor] : units)
    if (unit == name)
      return number <= (int64_t{1} << 62) / factor ? number * factor : -1;
  return -1;
}

Parsed<Strategy> parseStrategy(std::string_view text, const std::string &file,
                               const ScheduleNames &schedules,
                               const Settings &settings) {
  Parsed<Strategy> result;
  Parsed<toml::table> document = parseToml(text, file);
  result.diagnostics = std::move(document.diagnostics);
  if (!result.ok())
    return result;
  result.diagnostics = useOwnNames(document.value, file);
  settings.applyTo(document.value, Settings::kStrategy);
  TomlReader root(document.value, "", file, result.diagnostics);
  readStrategy(root, result.value, schedules);
  sortByLine(result.diagnostics);
  return result;
}

Parsed<Strategy> loadStrategy(const std::string &path,
                              const ScheduleNames &schedules,
                              const Settings &settings) {
  Parsed<std::string> text = readTextFile(path);
  if (!text.ok())
    return {{}, std::move(text.diagnostics)};
  return parseStrategy(text.value, path, schedules, settings);
}

nlohmann::ordered_json toJson(const Strategy &strategy) {
  nlohmann::ordered_json json = toJson(strategyFields({}), strategy);
  for (LogicalAxis axis : allLogicalAxes())
    json["shard"][std::string(toString(axis))] =
        toString(strategy.shard.meshAxis(axis));
  json["override"] = nlohmann::ordered_json::array();
  for (const ShardOverride &override : strategy.overrides)
    json["override"].push_back(toJson(overrideFields(), override)["override"]);
  return json;
}

} // namespace mtc::models
