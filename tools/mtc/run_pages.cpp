//===- run_pages.cpp - the keys of recipes and logs -----------------------===//

#include "mtc/runtime/log_fields.h"
#include "mtc/runtime/recipe_fields.h"
#include "tools/mtc/key_page.h"

#include <fmt/format.h>

#include <sstream>

namespace mtc::tool {
namespace {

using runtime::LogField;
using runtime::Recipe;
using runtime::RecipeField;

bool isText(const RecipeField &field) {
  return std::holds_alternative<std::string Recipe::*>(field.member);
}

std::string optionsOf(const RecipeField &field) {
  std::string text = fmt::format("--{}", field.option);
  std::istringstream aliases(field.aliases);
  for (std::string alias; aliases >> alias;)
    text += fmt::format(", --{}", alias);
  return text;
}

std::string defaultOf(const RecipeField &field) {
  std::string text = textOf(field, Recipe());
  if (!isText(field))
    return text;
  return text.empty() ? "none" : '"' + text + '"';
}

// By the type of a member.
std::string typeOf(const int64_t *) { return "an integer"; }
std::string typeOf(const float *) { return "a number (fp32)"; }
std::string typeOf(const double *) { return "a number (double)"; }
std::string typeOf(const std::optional<int64_t> *) { return "an integer"; }
std::string typeOf(const std::optional<double> *) {
  return "a number (double)";
}
std::string typeOf(const std::string_view *) { return "a string"; }
std::string typeOf(const runtime::JsonText *) { return "JSON"; }

template <typename Record>
KeyTable tableOf(const std::string &heading,
                 std::span<const LogField<Record>> fields) {
  KeyTable table{heading, {}};
  for (const LogField<Record> &field : fields)
    table.rows.push_back({field.key, "",
                          std::visit(
                              [](auto member) {
                                Record record;
                                return typeOf(&(record.*member));
                              },
                              field.member),
                          "", field.meaning, field.example});
  return table;
}

} // namespace

KeyPage recipePage() {
  KeyTable table;
  for (const RecipeField &field : runtime::recipeFields())
    table.rows.push_back({field.key, optionsOf(field), expectedOf(field),
                          defaultOf(field), field.meaning, field.example});
  return {"Recipes: how to train",
          "A recipe is a TOML file of top-level keys: `mtc run BUNDLE --recipe "
          "FILE`. Options of `mtc run` replace what it says. Nothing here "
          "needs another compilation. A key that is not here is an error.\n\n"
          "A recipe, all of it:\n\n"
          "```toml\n"
          "steps = 2000\n"
          "seed = 1234\n"
          "lr = 6e-4\n"
          "min_lr = 6e-5\n"
          "warmup_steps = 100\n"
          "decay = \"cosine\"\n"
          "weight_decay = 0.1\n"
          "clip = 1.0\n"
          "```\n\n"
          "[Training](../training.md) has the order of samples, what is saved "
          "and what is evaluated; [numerics](../numerics.md) the formulas.",
          {table},
          ""};
}

/// What times_ms has at each level.
KeyTable timesTable() {
  KeyTable table{"Named times", {}};
  for (const runtime::TimePart &part : runtime::timeParts())
    table.rows.push_back(
        {part.name, "", part.within ? "level 2" : "level 1", "",
         part.within ? fmt::format("of {}: {}", part.within, part.meaning)
                     : part.meaning,
         "[2.1, 2.2, 2.3]"});
  return table;
}

KeyPage logPage() {
  return {
      "The log of a run",
      "`mtc run --log FILE` writes a line that begins the run (`header`) "
      "and one for each step (`--log-interval`), JSON objects "
      "with these keys in this order. Numbers are the shortest text that "
      "reads back to the same bits; one that is not finite is `null`. A log "
      "that several runs continued has a header of each. "
      "[Training](../training.md#the-log) tells what happens to a log that "
      "is there already.",
      {tableOf("The first line of a run", runtime::runFields()),
       tableOf("A step", runtime::stepFields()),
       tableOf("An evaluation", runtime::evaluationFields()), timesTable()},
      "With `--eval-interval` lines of evaluations are among those of steps. "
      "That of `mtc run --eval N` goes to standard output, too."};
}

} // namespace mtc::tool
