//===- fit.h - the nearest strategies that fit a device ---------*- C++ -*-===//
//
// Nearest: as little as possible is changed of what costs little. ZeRO-1 and
// sequence parallelism are nearly free, less recompute is better than more, and
// another split of the model comes last. One key changes, or two.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_LINT_FIT_H
#define MTC_COMPILER_LINT_FIT_H

#include "compiler/lint/lint.h"
#include "compiler/lint/rules.h"
#include "compiler/plan.h"
#include "compiler/plan_strategy.h"

namespace mtc::compiler {

/// A strategy that fits: what it changes, and the bytes of the rank that needs
/// most.
struct Fitting {
  models::Changes changes;
  models::Strategy strategy;
  int64_t bytes = 0;
};

struct FitSearch {
  const models::ModelSpec &spec;
  const models::StrategyKeys &keys;
  const StrategyRules &rules;
  /// False: replicas may change, so that the ranks stay as many.
  bool fixesReplicas;
  PlanRequest request;
  int64_t tries;
  std::function<void(const std::string &)> progress;
};

struct FitResult {
  std::vector<Fitting> fitting; ///< nearest first, at most three
  int64_t tried = 0;            ///< strategies that were planned
};

/// Searches around `strategy`, whose plan is `plan` and needs more than
/// `deviceMemory` of a rank. The result depends on the arguments alone.
FitResult findFitting(const FitSearch &search, const models::Strategy &strategy,
                      const BundlePlan &plan);

} // namespace mtc::compiler
#endif // MTC_COMPILER_LINT_FIT_H
