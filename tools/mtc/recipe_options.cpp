//===- recipe_options.cpp - options of the fields of a recipe -------------===//

#include "tools/mtc/recipe_options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <variant>

using mtc::runtime::Recipe;
using mtc::runtime::RecipeField;

namespace mtc::tool {
namespace {

std::string flagsOf(const RecipeField &field) {
  std::string flags = fmt::format("--{}", field.option);
  std::istringstream aliases(field.aliases);
  for (std::string alias; aliases >> alias;)
    flags += fmt::format(",--{}", alias);
  return flags;
}

std::string help(const RecipeField &field) {
  std::string text = field.meaning;
  if (!field.words.empty())
    text += fmt::format(": {}", fmt::join(field.words, ", "));
  std::string value = textOf(field, Recipe());
  return value.empty() ? text : fmt::format("{} (default {})", text, value);
}

bool isText(const RecipeField &field) {
  return std::holds_alternative<std::string Recipe::*>(field.member);
}

} // namespace

void RecipeOptions::addTo(CLI::App &sub) {
  for (const RecipeField &field : runtime::recipeFields()) {
    CLI::Option *option = sub.add_option_function<std::string>(
        flagsOf(field),
        [this, &field](const std::string &text) {
          given_.emplace_back(&field, text);
        },
        help(field));
    option->type_name(isText(field) ? "TEXT" : "NUMBER")->group("Recipe");
    if (field.optionWords > 1)
      option->expected(field.optionWords)->join(' ');
  }
  megatron_.addTo(sub, MegatronUse::run);
}

std::vector<std::string> RecipeOptions::apply(Recipe &recipe) const {
  std::vector<std::string> problems;
  if (isGiven("steps") && isGiven("samples"))
    problems.push_back(
        "--steps and --samples: expected one of them, found both");
  if (isGiven("steps"))
    recipe.samples = 0;
  for (const auto &[field, text] : given_)
    if (!setField(*field, text, recipe))
      problems.push_back(fmt::format("--{}: expected {}, found '{}'",
                                     field->option, expectedOf(*field), text));
  return problems;
}

bool RecipeOptions::isGiven(std::string_view key) const {
  return std::ranges::any_of(
      given_, [&](const auto &each) { return each.first->key == key; });
}

} // namespace mtc::tool
