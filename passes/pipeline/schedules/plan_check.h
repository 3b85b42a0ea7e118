//===- plan_check.h - may this plan run -------------------------*- C++ -*-===//
//
// Independent of the expansion: it takes the programs as they are, whoever made
// them, and knows only what a schedule depends on and what slots must hold.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_PLAN_CHECK_H
#define MTC_PASSES_PIPELINE_SCHEDULES_PLAN_CHECK_H

#include "passes/pipeline/schedules/machine.h"

namespace mtc::schedules {

struct PlanCheckOptions {
  bool slotsAssigned = true; ///< false: leave the slots unchecked
};

/// All broken rules of a plan, in this order:
///   those of checkSchedule over its computations
///   transfer-set   sends and receives are exactly the dependences between
///                  stages, once each; peer: with the stages these lie on
///   peer, unpaired, pair-order, pair-size   of matchMachine and of the
///   crossings slot-range, operands, wrong-value, group-hazard
///                  each read and send finds its value: see walkSlots
///   cycle          the wait-for graph, one stream per rank
Findings checkPlan(const Plan &plan, const PlanCheckOptions &options = {});

/// The walk alone: runs each program with the names of values for values.
///   operands     operands of other pools than valuesOf says, or one slot twice
///   slot-range   a slot that its pool does not have
///   wrong-value  a read or send whose slot holds something else
///   group-hazard one slot twice in an exchange
/// A receive writes the name that its pair in `matching` sends. Expects slots
/// in range and matching.complete.
Findings walkSlots(const Plan &plan, const Matching &matching);

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_PLAN_CHECK_H
