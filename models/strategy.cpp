//===- strategy.cpp - how to spread a model -------------------------------===//

#include "models/strategy.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "models/nearest.h"
#include "models/strategy_reader.h"

namespace mtc::models {

static constexpr IntegerRange countRange{1, 1 << 20};

const std::vector<StrategyInteger> &strategyIntegers() {
  static const std::vector<StrategyInteger> fields = [] {
    std::vector<StrategyInteger> rows;
    for (const AxisInfo &axis : kAxes)
      rows.push_back({axis.name, nullptr, {1, Mesh::kMaxExtent}});
    rows.insert(
        rows.end(),
        {{"micro_batch_size", &Strategy::microBatchSize, countRange},
         {"global_batch_size", &Strategy::globalBatchSize, {1, 1 << 30}},
         {"seq_length", &Strategy::seqLength, countRange},
         {"zero", &Strategy::zero, {0, 1}},
         {"threads_per_rank", &Strategy::threadsPerRank, {1, 1024}},
         {"bucket_size", &Strategy::bucketSize, {1, int64_t{1} << 40}}});
    return rows;
  }();
  return fields;
}

const std::vector<StrategyChoice> &strategyChoices() {
  static const std::vector<StrategyChoice> fields = {
      {"schedule", &Strategy::schedule, {}},
      {"target",
       &Strategy::target,
       {"cpu", "cuda:sm_75", "cuda:sm_80", "cuda:sm_86", "cuda:sm_89",
        "cuda:sm_90"}},
      {"dtype", &Strategy::dtype, {"f32", "bf16"}},
      {"optimizer", &Strategy::optimizer, {"adamw"}}};
  return fields;
}

MeshAxis Strategy::meshAxis(std::string_view name, LogicalAxis axis) const {
  MeshAxis result = shard.meshAxis(axis);
  for (const ShardOverride &override : overrides)
    if (matches(override.pattern, name))
      for (auto [overridden, mesh] : override.axes)
        if (overridden == axis)
          result = mesh;
  return result;
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

static void readDeviceMemory(TomlReader &root, Strategy &strategy) {
  const toml::node *node = root.node("device_memory");
  if (!node)
    return;
  int64_t bytes = -1;
  if (const auto *value = node->as_integer())
    bytes = value->get();
  else if (const auto *text = node->as_string())
    bytes = parseBytes(text->get());
  if (bytes < 0)
    return root.wrong("device_memory",
                      "bytes, as a number or like \"80GiB\" (KiB MiB GiB TiB, "
                      "KB MB GB TB)");
  strategy.deviceMemory = bytes;
}

static std::vector<std::pair<LogicalAxis, MeshAxis>>
readShardTable(TomlReader &reader) {
  static const std::vector<Choice<MeshAxis>> meshAxes = [] {
    std::vector<Choice<MeshAxis>> choices;
    for (const AxisInfo &axis : kAxes)
      if (axis.splits)
        choices.push_back({axis.name, static_cast<MeshAxis>(axis.id)});
    choices.push_back({toString(MeshAxis::none), MeshAxis::none});
    return choices;
  }();
  std::vector<std::pair<LogicalAxis, MeshAxis>> result;
  for (LogicalAxis axis : allLogicalAxes()) {
    MeshAxis mesh = MeshAxis::none;
    bool given = reader.has(toString(axis));
    reader.choice(toString(axis), mesh, meshAxes);
    if (given && reader.good(toString(axis)))
      result.emplace_back(axis, mesh);
  }
  reader.finish();
  return result;
}

static void readOverride(TomlReader &reader, Strategy &strategy) {
  ShardOverride override;
  reader.string("pattern", override.pattern, Need::required);
  if (reader.good("pattern") && override.pattern.empty())
    reader.wrong("pattern", "a parameter name, '*' for any characters");
  if (const toml::table *table = reader.subtable("shard")) {
    TomlReader shard = reader.inner("shard", *table);
    override.axes = readShardTable(shard);
  } else if (!reader.has("shard")) {
    reader.error("shard", "is missing; write shard = { ffn = \"none\" }");
  }
  reader.finish();
  strategy.overrides.push_back(std::move(override));
}

static void readOverrides(TomlReader &root, Strategy &strategy) {
  const toml::node *node = root.node("override");
  if (!node)
    return;
  const toml::array *list = node->as_array();
  if (!list)
    return root.wrong("override", "tables headed [[override]]");
  for (const toml::node &item : *list) {
    const toml::table *table = item.as_table();
    if (!table)
      return root.error("override", fmt::format("expected tables headed "
                                                "[[override]], found {}",
                                                describe(item)));
    TomlReader reader = root.inner("override", *table);
    readOverride(reader, strategy);
  }
}

/// `planned` values are read, but not offered.
static void readChoice(TomlReader &root, const StrategyChoice &field,
                       const std::vector<std::string_view> &values,
                       const std::vector<std::string_view> &planned,
                       Strategy &strategy) {
  std::string value;
  root.string(field.key, value);
  if (!root.has(field.key) || !root.good(field.key))
    return;
  auto in = [&](const std::vector<std::string_view> &names) {
    return std::find(names.begin(), names.end(), value) != names.end();
  };
  if (!in(values) && !in(planned)) {
    std::string near = nearestName(value, values);
    return root.wrong(field.key,
                      values.size() == 1 ? std::string(values[0])
                                         : "one of " + join(values),
                      near.empty() ? "" : ", did you mean '" + near + "'?");
  }
  strategy.*field.member = value;
}

void readStrategy(TomlReader &root, Strategy &strategy,
                  const ScheduleNames &schedules) {
  for (const StrategyInteger &field : strategyIntegers())
    root.integer(field.key, field.of(strategy), field.range);
  for (const StrategyChoice &field : strategyChoices())
    if (field.member == &Strategy::schedule)
      readChoice(root, field, schedules.built, schedules.planned, strategy);
    else
      readChoice(root, field, field.values, {}, strategy);
  root.integers("layers_per_stage", strategy.layersPerStage, {1, 65535});
  readDeviceMemory(root, strategy);
  if (const toml::table *table = root.subtable("shard")) {
    TomlReader reader = root.inner("shard", *table);
    for (auto [axis, mesh] : readShardTable(reader))
      strategy.shard.set(axis, mesh);
  }
  readOverrides(root, strategy);
  root.finish();
}

Parsed<Strategy> parseStrategy(std::string_view text, const std::string &file,
                               const ScheduleNames &schedules) {
  Parsed<Strategy> result;
  Parsed<toml::table> document = parseToml(text, file);
  result.diagnostics = std::move(document.diagnostics);
  if (!result.ok())
    return result;
  TomlReader root(document.value, "", file, result.diagnostics);
  readStrategy(root, result.value, schedules);
  sortByLine(result.diagnostics);
  return result;
}

Parsed<Strategy> loadStrategy(const std::string &path,
                              const ScheduleNames &schedules) {
  Parsed<std::string> text = readTextFile(path);
  if (!text.ok())
    return {{}, std::move(text.diagnostics)};
  return parseStrategy(text.value, path, schedules);
}

nlohmann::ordered_json toJson(const Strategy &strategy) {
  nlohmann::ordered_json json;
  for (const StrategyInteger &field : strategyIntegers())
    json[std::string(field.key)] = field.of(strategy);
  for (const StrategyChoice &field : strategyChoices())
    json[std::string(field.key)] = strategy.*field.member;
  json["layers_per_stage"] = strategy.layersPerStage;
  json["device_memory"] = strategy.deviceMemory;
  for (LogicalAxis axis : allLogicalAxes())
    json["shard"][std::string(toString(axis))] =
        toString(strategy.shard.meshAxis(axis));
  json["override"] = nlohmann::ordered_json::array();
  for (const ShardOverride &override : strategy.overrides) {
    nlohmann::ordered_json row = {{"pattern", override.pattern}};
    for (auto [axis, mesh] : override.axes)
      row["shard"][std::string(toString(axis))] = toString(mesh);
    json["override"].push_back(row);
  }
  return json;
}

} // namespace mtc::models
