//===- strategy_options.cpp - options that replace keys -------------------===//
//
// An option becomes a table of one key and goes through the file's reader, so
// that both have one set of rules and messages.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "models/nearest.h"
#include "models/strategy_fields.h"

namespace mtc::models {

static std::string withDashes(std::string_view key) {
  std::string result(key);
  std::replace(result.begin(), result.end(), '_', '-');
  return result;
}

static std::string textOf(const nlohmann::ordered_json &value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

template <typename T>
static void addOptions(std::vector<StrategyOptionInfo> &options,
                       const std::vector<Field<T>> &fields, const T &defaults) {
  for (const Field<T> &field : fields)
    options.push_back(
        {optionOf(field), std::string(field.aliases),
         fmt::format("{}: {} (default {})", field.meaning, field.kind.type,
                     defaultOf(field, defaults)),
         textOf(field.kind.valueOf(defaults)),
         field.kind.choices == std::vector<std::string>{"true", "false"}});
}

std::vector<StrategyOptionInfo> strategyOptions(const ScheduleNames &schedules,
                                                const Strategy &defaults) {
  std::vector<StrategyOptionInfo> options;
  addOptions(options, strategyFields(schedules), defaults);
  addOptions(options, shardFields(), {});
  return options;
}

static bool parseInteger(std::string_view text, int64_t &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// The integer or truth value that the text is, else the text: the reader
/// reports it.
static void insertScalar(toml::table &table, std::string_view key,
                         std::string_view text) {
  int64_t value = 0;
  if (parseInteger(text, value))
    table.insert(key, value);
  else if (text == "true" || text == "false")
    table.insert(key, text == "true");
  else
    table.insert(key, std::string(text));
}

static toml::array splitList(std::string_view text) {
  toml::array list;
  bool isMore = !text.empty();
  while (isMore) {
    size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    int64_t value = 0;
    if (parseInteger(item, value))
      list.push_back(value);
    else
      list.push_back(std::string(item));
    isMore = comma != text.npos; // behind a comma stands another, if an empty
    text.remove_prefix(isMore ? comma + 1 : text.size());
  }
  return list;
}

static toml::table tableOf(std::string_view key, std::string_view text) {
  toml::table table;
  bool isList = text.find_first_of("0123456789,-") == 0 || text.empty();
  bool mayBeSeveral = key == "seq_length" || key == "global_batch_size";
  bool areSeveral = mayBeSeveral && text.find(',') != text.npos;
  if ((key == "layers_per_stage" && isList) || areSeveral) {
    table.insert(key, splitList(text));
  } else if (key.starts_with("shard.")) {
    toml::table inner;
    inner.insert(key.substr(6), std::string(text));
    table.insert("shard", std::move(inner));
  } else {
    insertScalar(table, key, text);
  }
  return table;
}

Diagnostics checkContradictions(const std::vector<StrategyOption> &options,
                                const Settings &settings) {
  Diagnostics found;
  for (const auto &[option, value] : options) {
    std::string key = option;
    std::replace(key.begin(), key.end(), '-', '_');
    std::string text =
        settings.sourceOf(fmt::format("{}.{}", Settings::kStrategy, key));
    if (!text.empty())
      found.push_back({ErrorClass::usage, "--set " + text, 0,
                       fmt::format("key '{}': expected it once, found it with "
                                   "--{} {} as well",
                                   key, withDashes(option), value)});
  }
  return found;
}

Diagnostics applyOptions(Strategy &strategy,
                         const std::vector<StrategyOption> &options,
                         const ScheduleNames &schedules) {
  Diagnostics all;
  std::vector<std::string> names;
  for (const StrategyOptionInfo &info : strategyOptions(schedules, {}))
    names.push_back(info.name);
  for (const auto &[option, text] : options) {
    std::string name = withDashes(option), key = option;
    std::replace(key.begin(), key.end(), '-', '_');
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      std::vector<std::string_view> views(names.begin(), names.end());
      all.push_back({ErrorClass::usage, "--" + option, 0,
                     "unknown option" + suggestion(name, views)});
      continue;
    }
    toml::table table = tableOf(key, text);
    Diagnostics found;
    TomlReader root(table, "", "--" + name, found);
    readStrategy(root, strategy, schedules);
    for (Diagnostic &diagnostic : found) {
      diagnostic.line = 0;
      all.push_back(std::move(diagnostic));
    }
  }
  return all;
}

} // namespace mtc::models
