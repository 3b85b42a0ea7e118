//===- recipe_fields.h - every key of a recipe ------------------*- C++ -*-===//
//
// The one list: recipe files, the options of `mtc run`, what ranks are told,
// the checks, help and reference pages follow from it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_RECIPE_FIELDS_H
#define MTC_RUNTIME_RECIPE_FIELDS_H

#include "mtc/runtime/recipe.h"
#include "mtc/runtime/status.h"

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mtc::runtime {

struct RecipeField {
  using Member = std::variant<int64_t Recipe::*, uint64_t Recipe::*,
                              double Recipe::*, std::string Recipe::*>;
  const char *key;     ///< of recipe files
  const char *option;  ///< of `mtc run`, without the dashes
  const char *aliases; ///< its other names, Megatron-LM's, spaces between them
  Member member;       ///< its type, and where it is
  const char *meaning; ///< for people
  const char *example; ///< a value as in a file
  // What values it takes: numbers from `least` to below `below` (integers: from
  // `least` on), texts that are one of `words` (none: any).
  double least = 0;
  double below = std::numeric_limits<double>::infinity();
  std::vector<std::string_view> words = {};
  bool orZero = false; ///< 0 is taken, too, below `least`
  int optionWords = 1; ///< of a text on the command line
};

std::span<const RecipeField> recipeFields();

/// "an integer >= 0", "a number >= 0 and < 1", "one of u8, u16, i32".
std::string expectedOf(const RecipeField &field);

/// The value of a field as text that `setField` takes.
std::string textOf(const RecipeField &field, const Recipe &recipe);

/// Sets a field from text: all of it, decimal, no infinity, no NaN; of words,
/// capitals do not count. False when
/// it is not of the field's type. The range is checkRecipe's.
bool setField(const RecipeField &field, std::string_view text, Recipe &recipe);

/// Whether a value is in the field's range.
bool holds(const RecipeField &field, const Recipe &recipe);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_RECIPE_FIELDS_H
