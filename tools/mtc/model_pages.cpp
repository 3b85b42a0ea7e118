//===- model_pages.cpp - the keys of specs and strategies -----------------===//

#include "compiler/schedules.h"
#include "models/spec_fields.h"
#include "models/strategy_fields.h"
#include "tools/mtc/key_page.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace mtc::tool {
namespace {

using models::Field;
using models::ModelSpec;
using models::Need;
using models::Strategy;

template <typename T>
KeyRow rowOf(const Field<T> &field, const T &defaults, bool isOption) {
  KeyRow row{std::string(field.key),
             "",
             field.kind.type,
             field.need == Need::required ? "" : defaultOf(field, defaults),
             std::string(field.meaning),
             std::string(field.example),
             field.need == Need::required};
  if (isOption)
    row.options = "--" + optionOf(field);
  std::istringstream aliases{std::string(field.aliases)};
  for (std::string alias; aliases >> alias;)
    row.options += ", --" + alias.substr(0, alias.find_first_of("+="));
  return row;
}

/// The fields of one table.
template <typename T>
KeyTable tableOf(const std::vector<Field<T>> &fields, std::string_view table,
                 const std::string &heading, const T &defaults,
                 bool areOptions = false) {
  KeyTable result{heading, {}};
  for (const Field<T> &field : fields)
    if (field.table == table)
      result.rows.push_back(rowOf(field, defaults, areOptions));
  return result;
}

/// The shortest spec: what has no default.
std::string shortestSpec() {
  std::string text;
  for (const Field<ModelSpec> &field : models::specFields())
    if (field.need == Need::required)
      text += fmt::format("{} = {}\n", field.key, field.example);
  return text;
}

/// A file with one key of a table, or of none, behind `text`.
std::string withKey(const std::string &text, const std::string &heading,
                    std::string_view key, std::string_view value) {
  return fmt::format("{}{}{} = {}\n", text,
                     heading.empty() ? "" : heading + "\n", key, value);
}

std::string headingOf(std::string_view table) {
  return table.empty() ? "" : fmt::format("[{}]", table);
}

/// Values of a field that are worth a question.
template <typename T> std::vector<std::string> valuesOf(const Field<T> &field) {
  if (!field.kind.choices.empty())
    return field.kind.choices;
  return {std::string(field.example)};
}

/// What is read and cannot be compiled, found by asking about every choice and
/// every example.
std::string specsNotBuilt() {
  std::vector<std::string> found;
  for (const Field<ModelSpec> &field : models::specFields()) {
    if (field.need == Need::required)
      continue;
    for (const std::string &value : valuesOf(field)) {
      std::string text =
          withKey(shortestSpec(), headingOf(field.table), field.key, value);
      for (const models::Unbuilt &each :
           unsupported(models::parseModelSpec(text, "").value))
        if (std::ranges::count(found, each.what) == 0)
          found.push_back(each.what);
    }
  }
  return fmt::format(
      "These are read, and rejected until they are built:\n\n* {}",
      fmt::join(found, "\n* "));
}

/// "`ffn` over tp or none": what can be compiled, found in the same way.
std::string splitsBuilt() {
  models::ScheduleNames schedules = compiler::scheduleNames();
  std::vector<std::string> found;
  for (const Field<models::ShardAxes> &field : models::shardFields()) {
    std::vector<std::string> built;
    for (const std::string &value : field.kind.choices) {
      std::string text = withKey("", headingOf(field.table), field.key, value);
      if (unsupported(models::parseStrategy(text, "", schedules).value).empty())
        built.push_back(value);
    }
    found.push_back(
        fmt::format("`{}` {}", field.key, fmt::join(built, " or ")));
  }
  return fmt::format(
      "Other splits than these are read, and rejected until they "
      "are built: {}.",
      fmt::join(found, ", "));
}

} // namespace

KeyPage specPage() {
  KeyPage page{
      "Specs: what a model is",
      "A spec is a TOML file. It says nothing about devices: that is the "
      "[strategy](strategy.md). `mtc compile` takes a file, or the name of a "
      "spec that comes with it (`mtc help specs`). A key that is not here is "
      "an error, and so is a value of another type.\n\n"
      "The shortest spec has what has no default:\n\n```toml\n" +
          shortestSpec() + "```",
      {tableOf(models::specFields(), "", "", ModelSpec())},
      specsNotBuilt() +
          "\n\nThe parameters that follow from a spec, and how they lie in a "
          "file, are those of [weights](weights.md)."};
  for (std::string_view table : tablesOf(models::specFields()))
    page.tables.push_back(
        tableOf(models::specFields(), table, headingOf(table), ModelSpec()));
  return page;
}

KeyPage strategyPage() {
  Strategy defaults;
  compiler::resolveSchedule(defaults);
  std::vector<Field<Strategy>> fields =
      models::strategyFields(compiler::scheduleNames());
  return {"Strategies: how to spread a model",
          "A strategy is a TOML file: `mtc compile SPEC --strategy FILE`, or "
          "the name of one that comes with mtc (`mtc help strategies`). Each "
          "key but those of an override is an option of `mtc compile` as well, "
          "which replaces what the file says; there a list is written `1,3`, "
          "and a number without `_`. All names of an option are keys of the "
          "file too, with `-` or `_`: `sp = true`, or Megatron-LM's "
          "`tensor-model-parallel-size = 2`; a flag that stands for a value is "
          "true or false there, as `bf16 = true`, and false is as if it were "
          "left out. A key under two names is an error. Without a file there "
          "is one rank. The "
          "same spec, compiled with another strategy, trains the same numbers, "
          "as far as [contracts](../contracts.md) says.\n\n"
          "A strategy for eight ranks, all of it:\n\n"
          "```toml\n"
          "tp = 2\n"
          "pp = 2\n"
          "dp = 2\n"
          "micro_batch_size = 2\n"
          "global_batch_size = 16\n"
          "schedule = \"1f1b\"\n"
          "zero = 1\n"
          "```",
          {tableOf(fields, "", "", defaults, /*areOptions=*/true),
           tableOf(models::shardFields(), "shard", "[shard]",
                   models::ShardAxes(), /*areOptions=*/true),
           tableOf(models::overrideFields(), "override", "[[override]]",
                   models::ShardOverride())},
          "`[shard]` says along which axis of the mesh a dimension of "
          "parameters is split; [sharding](../sharding.md) tells what follows "
          "from that.\n\n" +
              splitsBuilt()};
}

} // namespace mtc::tool
