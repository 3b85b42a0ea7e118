//===- plan_strategy.h - spec and strategy to a plan, no code ---*- C++ -*-===//
#ifndef MTC_COMPILER_PLAN_STRATEGY_H
#define MTC_COMPILER_PLAN_STRATEGY_H

#include "compiler/plan.h"
#include "models/spec.h"
#include "models/strategy.h"
#include "runtime/base/status.h"

namespace mtc::compiler {

/// How to plan, beside what.
struct PlanRequest {
  std::string isa;    ///< as CompileOptions
  int threads = 2;    ///< programs planned at a time
  bool verify = true; ///< False: the phases named verify-* do not run
};

/// Imports and plans, up to the last phase that reads the whole machine. The
/// strategy must be resolved and valid; its limit of memory is not looked at.
/// Errors: those of the phases, as of `compile`.
runtime::Status planStrategy(const models::ModelSpec &spec,
                             const models::Strategy &strategy,
                             const PlanRequest &request, BundlePlan &plan);

} // namespace mtc::compiler
#endif // MTC_COMPILER_PLAN_STRATEGY_H
