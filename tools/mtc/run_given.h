//===- run_given.h - what was given to mtc run ------------------*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_RUN_GIVEN_H
#define MTC_TOOLS_MTC_RUN_GIVEN_H

#include "mtc/runtime/run.h"
#include "tools/mtc/recipe_options.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mtc::tool {

/// `options` has what the run takes as it was given. Beside it stands what must
/// be read first, or of which it counts whether it was given.
struct RunCommand {
  runtime::RunOptions options;
  RecipeOptions recipe;
  std::string recipeFile;
  std::string comm;
  std::vector<std::pair<std::string, std::string>> dumps;
  std::string progress;
  bool quiet = false;
  std::optional<double> exitMinutes, peakTflops;
  std::string logStyle = "mtc", profile;
  int64_t profileStart = 0, profileEnd = 0;
};

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_RUN_GIVEN_H
