//===- least_recompute.h - the policy that `fit` stands for -----*- C++ -*-===//
#ifndef MTC_COMPILER_LEAST_RECOMPUTE_H
#define MTC_COMPILER_LEAST_RECOMPUTE_H

#include "compiler/plan_strategy.h"

#include <functional>
#include <string>

namespace mtc::compiler {

/// Puts the policy that `recompute = fit` stands for into its place: of none,
/// full, layers=N, microbatches=N and selective the one with the fewest
/// floating-point operations whose ranks keep the strategy's limit of memory;
/// of equal ones the earlier in this order. Plans are made to know both. More
/// layers, or microbatches, are taken to need no more memory: where layers=N is
/// the answer, layers=N-1 was planned and does not fit. If none fits it is
/// full, and the limit is the plan's to break.
///
/// Where the strategy distributes what is saved all policies but none do, and
/// under none it no longer says so. Else none does, as that is communication
/// which nobody asked for; if nothing fits without, `progress` is told whether
/// something would. Does nothing with another policy than fit.
///
/// The strategy must be resolved and valid. `progress`, which may be empty,
/// gets a line for each plan and one for the answer. Errors: as planStrategy.
runtime::Status
chooseRecompute(const models::ModelSpec &spec, models::Strategy &strategy,
                const PlanRequest &request,
                const std::function<void(const std::string &)> &progress);

} // namespace mtc::compiler
#endif // MTC_COMPILER_LEAST_RECOMPUTE_H
