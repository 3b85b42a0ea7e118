//===- toml_reader.cpp - typed reading of TOML tables ---------------------===//

#include "models/toml_reader.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "models/nearest.h"
#include "models/settings.h"
#include "runtime/base/toml_nesting.h"

namespace mtc::models {

/// The parser's sentences in our style: lower case first, no full stop.
static std::string inOurStyle(std::string_view text) {
  std::string result(text);
  if (!result.empty())
    result[0] =
        static_cast<char>(std::tolower(static_cast<unsigned char>(result[0])));
  while (!result.empty() && result.back() == '.')
    result.pop_back();
  return result;
}

Parsed<toml::table> parseToml(std::string_view text, const std::string &file) {
  if (auto line = runtime::lineNestedTooDeep(text))
    return {{},
            {{ErrorClass::usage, file, static_cast<int>(*line),
              runtime::tooDeepToml()}}};
  try {
    return {toml::parse(text, file), {}};
  } catch (const toml::parse_error &error) {
    return {
        {},
        {{ErrorClass::usage, file, static_cast<int>(error.source().begin.line),
          "not valid TOML: " + inOurStyle(error.description())}}};
  }
}

std::string describe(const toml::node &node) {
  if (auto *value = node.as_string())
    return fmt::format("a string \"{}\"", value->get());
  if (auto *value = node.as_integer())
    return fmt::format("an integer {}", value->get());
  if (auto *value = node.as_floating_point())
    return fmt::format("a number {}", value->get());
  if (auto *value = node.as_boolean())
    return fmt::format("a boolean {}", value->get());
  if (node.is_table())
    return "a table";
  return node.is_array() ? "a list" : "a date or time";
}

std::string describe(IntegerRange range) {
  return fmt::format("an integer in [{}, {}]", range.min, range.max);
}

std::string describe(NumberRange range) {
  return fmt::format("a number in {}{}, {})", range.open ? '(' : '[', range.min,
                     range.max);
}

/// "; the nearest valid value is 1" if the node is an integer out of range.
static std::string nearestInRange(const toml::node &node, IntegerRange range) {
  const auto *value = node.as_integer();
  if (!value)
    return "";
  return fmt::format("; the nearest valid value is {}",
                     std::clamp(value->get(), range.min, range.max));
}

static bool inRange(const toml::node &node, IntegerRange range) {
  const auto *value = node.as_integer();
  return value && value->get() >= range.min && value->get() <= range.max;
}

std::string TomlReader::qualified(std::string_view key) const {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

TomlReader::Place TomlReader::placeOf(const toml::source_region &source) const {
  if (source.path && isSetting(*source.path))
    return {*source.path, 0};
  return {file, static_cast<int>(source.begin.line)};
}

TomlReader::Place TomlReader::placeOf(std::string_view key) const {
  for (const auto &[name, node] : table)
    if (name.str() == key)
      return placeOf(name.source());
  Place place = placeOf(table.source());
  if (place.where == file)
    place.line = std::max(1, place.line);
  return place;
}

void TomlReader::error(std::string_view key, const std::string &message) {
  bad.emplace(key);
  Place place = placeOf(key);
  diagnostics.push_back({ErrorClass::usage, place.where, place.line,
                         fmt::format("key '{}': {}", qualified(key), message)});
}

void TomlReader::wrong(std::string_view key, const std::string &expected,
                       const std::string &advice) {
  error(key, fmt::format("expected {}, found {}{}", expected,
                         describe(*table.get(key)), advice));
}

const toml::node *TomlReader::find(std::string_view key, Need need) {
  if (std::find(known.begin(), known.end(), key) == known.end())
    known.emplace_back(key);
  const toml::node *found = table.get(key);
  if (!found && need == Need::required) {
    bad.emplace(key);
    missing.emplace_back(key);
  }
  return found;
}

const toml::node *TomlReader::node(std::string_view key) {
  return find(key, Need::optional);
}

void TomlReader::integer(std::string_view key, int64_t &out, IntegerRange range,
                         Need need) {
  const toml::node *found = find(key, need);
  if (!found)
    return;
  if (!inRange(*found, range))
    return wrong(key, describe(range), nearestInRange(*found, range));
  out = found->as_integer()->get();
}

void TomlReader::number(std::string_view key, double &out, NumberRange range,
                        Need need) {
  const toml::node *found = find(key, need);
  if (!found)
    return;
  if (!found->is_number())
    return wrong(key, describe(range));
  double value = *found->value<double>();
  // Written so that a NaN is rejected, too.
  bool above = range.open ? value > range.min : value >= range.min;
  if (!above || !(value < range.max))
    return wrong(key, describe(range));
  out = value;
}

void TomlReader::boolean(std::string_view key, bool &out, Need need) {
  const toml::node *found = find(key, need);
  if (!found)
    return;
  if (!found->is_boolean())
    return wrong(key, "true or false");
  out = found->as_boolean()->get();
}

void TomlReader::string(std::string_view key, std::string &out, Need need) {
  const toml::node *found = find(key, need);
  if (!found)
    return;
  if (!found->is_string())
    return wrong(key, "a string");
  out = found->as_string()->get();
}

std::optional<std::string> TomlReader::text(std::string_view key, Need need) {
  std::string found;
  string(key, found, need);
  return has(key) && good(key) ? std::optional(found) : std::nullopt;
}

void TomlReader::integers(std::string_view key, std::vector<int64_t> &out,
                          IntegerRange range) {
  const toml::node *found = find(key, Need::optional);
  if (!found)
    return;
  const toml::array *list = found->as_array();
  if (!list)
    return wrong(key, "a list of integers");
  std::vector<int64_t> values;
  for (const toml::node &item : *list) {
    if (!inRange(item, range))
      return error(key,
                   fmt::format("expected {} at position {}, found {}{}",
                               describe(range), values.size() + 1,
                               describe(item), nearestInRange(item, range)));
    values.push_back(item.as_integer()->get());
  }
  out = std::move(values);
}

int TomlReader::choiceIndex(std::string_view key,
                            const std::vector<std::string_view> &names,
                            Need need) {
  const toml::node *found = find(key, need);
  if (!found)
    return -1;
  std::string expected = "one of " + join(names);
  if (!found->is_string()) {
    wrong(key, expected);
    return -1;
  }
  const std::string &value = found->as_string()->get();
  auto at = std::find(names.begin(), names.end(), value);
  if (at != names.end())
    return static_cast<int>(at - names.begin());
  std::string near = nearestName(value, names);
  wrong(key, expected, near.empty() ? "" : ", did you mean '" + near + "'?");
  return -1;
}

const toml::table *TomlReader::subtable(std::string_view key) {
  const toml::node *found = find(key, Need::optional);
  if (!found)
    return nullptr;
  if (!found->is_table())
    wrong(key, "a table");
  return found->as_table();
}

TomlReader TomlReader::inner(std::string_view key,
                             const toml::table &sub) const {
  return TomlReader(sub, qualified(key), file, diagnostics);
}

void TomlReader::finish() {
  std::vector<std::string_view> names(known.begin(), known.end()), absent;
  for (std::string_view name : names)
    if (!has(name))
      absent.push_back(name);
  for (const auto &[name, node] : table) {
    if (std::find(names.begin(), names.end(), name.str()) != names.end())
      continue;
    Place place = placeOf(name.source());
    // What is set replaces a key of the file, so it may mean one that is there.
    std::vector<std::string_view> candidates = place.line > 0 ? absent : names;
    candidates.insert(candidates.end(), others.begin(), others.end());
    std::string near = nearestName(name.str(), candidates);
    std::erase(missing, near);
    diagnostics.push_back(
        {ErrorClass::usage, place.where, place.line,
         fmt::format("unknown key '{}'{}", qualified(name.str()),
                     near.empty() ? ", expected one of: " + join(names)
                                  : ", did you mean '" + near + "'?")});
  }
  for (const std::string &key : missing)
    error(key, "is missing; it has no default");
}

} // namespace mtc::models
