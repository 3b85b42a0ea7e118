//===- recipe_file.cpp - reads recipes ------------------------------------===//

#include "mtc/runtime/recipe_fields.h"
#include "mtc/runtime/run.h"
#include "runtime/base/file.h"
#include "runtime/base/toml_nesting.h"

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
  if (parsed.table().contains("steps") && parsed.table().contains("samples"))
    problems.push_back("expected steps or samples, found both");
  MTC_RETURN_IF_ERROR(usage(fmt::format("recipe '{}':", path), problems));
  recipe = std::move(result);
  return Status::okay();
}

} // namespace mtc::runtime
