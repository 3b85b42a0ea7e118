//===- timed_ops.h - the ops of fragments that profiles time ----*- C++ -*-===//
#ifndef MTC_COMPILER_EXPLAIN_TIMED_OPS_H
#define MTC_COMPILER_EXPLAIN_TIMED_OPS_H

#include "compiler/plan.h"
#include "dialects/rt/Rt.h"

#include <nlohmann/json.hpp>

namespace mtc::compiler {

/// The keys `work`, `parts` and `timed` of a stage of explain.json: for each
/// fragment of a program the ops that take time (rt::takesTime), in their
/// order, with what they compute and move. `plan` was read from the program.
nlohmann::ordered_json timedOps(rt::ProgramOp program, const ProgramPlan &plan,
                                const PlanConfig &config);

} // namespace mtc::compiler
#endif // MTC_COMPILER_EXPLAIN_TIMED_OPS_H
