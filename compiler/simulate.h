//===- simulate.h - how long stages wait for each other ---------*- C++ -*-===//
#ifndef MTC_COMPILER_SIMULATE_H
#define MTC_COMPILER_SIMULATE_H

#include "compiler/plan.h"

#include <functional>
#include <optional>

namespace mtc::compiler {

/// The part of all stages' time in which they wait, in [0, 1), for one step of
/// `entry` up to its update: 1 - sum(busy) / (stages · longest). A fragment
/// takes the time of its floating-point operations (one unit if no fragment has
/// any), transfers and collectives take none, and a receive waits for its send.
/// None if a stage lacks the entry or a receive has no send.
std::optional<double> bubbleFraction(const BundlePlan &plan,
                                     const std::string &entry);

/// What a row of a timeline takes that runs a fragment, in any unit.
using RowCost = std::function<double(const ProgramPlan &, const MtcStep &)>;

/// When the last stage ends with one step of `entry`, if rows that run
/// fragments take `cost`, transfers take no time, and a receive waits for its
/// send. None if a stage lacks the entry or a receive has no send.
std::optional<double> lengthOfStep(const BundlePlan &plan,
                                   const std::string &entry,
                                   const RowCost &cost);

} // namespace mtc::compiler
#endif // MTC_COMPILER_SIMULATE_H
