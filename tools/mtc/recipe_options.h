//===- recipe_options.h - options of the fields of a recipe -----*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_RECIPE_OPTIONS_H
#define MTC_TOOLS_MTC_RECIPE_OPTIONS_H

#include "mtc/runtime/recipe_fields.h"
#include "tools/mtc/megatron_options.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mtc::tool {

/// Values given on the command line, which replace the recipe file's.
class RecipeOptions {
public:
  /// Adds an option for every field of a recipe. This must live as long as
  /// `sub`.
  void addTo(CLI::App &sub);

  /// Of Megatron-LM's options that were given, what to do instead.
  const std::vector<std::string> &foreign() const { return megatron_.found(); }

  /// What is wrong with values by themselves; all others are set. Steps that
  /// are given replace the file's samples.
  std::vector<std::string> apply(runtime::Recipe &recipe) const;

private:
  bool isGiven(std::string_view key) const;

  std::vector<std::pair<const runtime::RecipeField *, std::string>> given_;
  MegatronOptions megatron_;
};

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_RECIPE_OPTIONS_H
