//===- lint.h - what is wrong with a strategy, and what would do -*- C++
//-*-===//
//
// Everything that `mtc compile` would say before it makes code: broken rules
// with the values that keep them, then the plan's memory beside that of the
// device, with the nearest strategies that fit.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_LINT_LINT_H
#define MTC_COMPILER_LINT_LINT_H

#include "compiler/compile.h"

#include <optional>
#include <string>

namespace mtc::compiler {

struct LintOptions {
  /// Spec, strategy, options, isa, threads and progress; no output.
  CompileOptions inputs;
  /// Ranks that there are; none: as many as the strategy's mesh.
  std::optional<int64_t> ranks;
  /// Strategies that are planned at most to find some that fit. 0: none.
  int64_t tries = 24;
};

/// `json` and `text` say the same; both are whole whatever the status is.
struct LintResult {
  nlohmann::ordered_json json;
  std::string text;
};

/// Errors: those of files and options, as `compile`; infeasible for broken
/// rules, all at once, and for a plan that is rejected or does not fit the
/// device's memory.
runtime::Status lint(const LintOptions &options, LintResult &result);

} // namespace mtc::compiler
#endif // MTC_COMPILER_LINT_LINT_H
