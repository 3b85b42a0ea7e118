//===- recipe_file.cpp - reads and checks recipes -------------------------===//

#include "mtc/runtime/recipe_fields.h"
#include "mtc/runtime/run.h"
#include "runtime/base/file.h"
#include "runtime/base/toml_nesting.h"
#include "runtime/train/step_batches.h"
#include "runtime/train/step_lengths.h"

#include <fmt/format.h>
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

namespace mtc::runtime {
namespace {

using Lines = std::vector<std::string>;

std::string shown(const toml::node &node) {
  std::ostringstream text;
  node.visit([&](const auto &value) { text << value; });
  return text.str();
}

/// Whether TOML's type is the field's; a number may be written as an integer.
bool hasTypeOf(const RecipeField &field, const toml::node &node) {
  if (std::holds_alternative<std::string Recipe::*>(field.member))
    return node.is_string();
  if (std::holds_alternative<double Recipe::*>(field.member))
    return node.is_number();
  return node.is_integer();
}

/// Empty, or what is wrong.
std::string readField(const RecipeField &field, const toml::node &node,
                      Recipe &recipe) {
  std::string found =
      node.is_string()           ? *node.value<std::string>()
      : node.is_floating_point() ? fmt::format("{}", *node.value<double>())
      : node.is_integer()        ? fmt::format("{}", *node.value<int64_t>())
                                 : "";
  if (hasTypeOf(field, node) && setField(field, found, recipe))
    return "";
  return fmt::format("'{}': expected {}, found {}", field.key,
                     expectedOf(field), shown(node));
}

std::string unknownKey(std::string_view key) {
  std::vector<std::string_view> names;
  for (const RecipeField &field : recipeFields())
    names.push_back(field.key);
  return fmt::format("unknown key '{}', expected one of: {}", key,
                     fmt::join(names, ", "));
}

Status usage(const std::string &what, const Lines &problems) {
  if (problems.empty())
    return Status::okay();
  std::string message = what;
  for (const std::string &problem : problems)
    message += "\n  " + problem;
  return {StatusCode::usage, message};
}

} // namespace

Status readRecipe(const std::string &path, Recipe &recipe) {
  std::string text;
  MTC_RETURN_IF_ERROR(readWholeFile(path, text));
  if (auto line = lineNestedTooDeep(text))
    return {StatusCode::usage,
            fmt::format("'{}' line {}: {}", path, *line, tooDeepToml())};
  toml::parse_result parsed = toml::parse(text, path);
  if (!parsed)
    return {StatusCode::usage,
            fmt::format("'{}' line {}: not valid TOML: {}", path,
                        parsed.error().source().begin.line,
                        parsed.error().description())};
  Recipe result = recipe;
  Lines problems;
  for (const auto &[key, node] : parsed.table()) {
    auto field =
        std::ranges::find(recipeFields(), key.str(), [](const RecipeField &f) {
          return std::string_view(f.key);
        });
    std::string problem = field == recipeFields().end()
                              ? unknownKey(key.str())
                              : readField(*field, node, result);
    if (!problem.empty())
      problems.push_back(
          fmt::format("line {}: {}", node.source().begin.line, problem));
  }
  MTC_RETURN_IF_ERROR(usage(fmt::format("recipe '{}':", path), problems));
  recipe = std::move(result);
  return Status::okay();
}

Status checkRecipe(const Recipe &recipe) {
  Lines problems;
  for (const RecipeField &field : recipeFields())
    if (!holds(field, recipe))
      problems.push_back(fmt::format("{}: expected {}, found {}", field.key,
                                     expectedOf(field), textOf(field, recipe)));
  if (problems.empty() && recipe.decay != "constant" &&
      recipe.min_lr > recipe.lr)
    problems.push_back(fmt::format(
        "min_lr: expected at most lr {}, found {}{}; lower min_lr (--min-lr), "
        "or take decay constant",
        recipe.lr, recipe.min_lr,
        recipe.min_lr == Recipe().min_lr ? " (its default)" : ""));
  if (problems.empty() && recipe.min_loss_scale > recipe.initial_loss_scale)
    problems.push_back(fmt::format(
        "min_loss_scale: expected at most initial_loss_scale {}, found {}",
        recipe.initial_loss_scale, recipe.min_loss_scale));
  StepLengths lengths;
  if (Status status = StepLengths::parse(recipe.seq, lengths); !status.ok())
    problems.push_back(status.message());
  BatchRamp ramp;
  if (Status status = BatchRamp::parse(recipe.rampup_batch_size, ramp);
      !status.ok())
    problems.push_back(status.message());
  return usage("recipe:", problems);
}

} // namespace mtc::runtime
