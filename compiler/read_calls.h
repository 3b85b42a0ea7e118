//===- read_calls.h - what the calls of a plan compute ----------*- C++ -*-===//
#ifndef MTC_COMPILER_READ_CALLS_H
#define MTC_COMPILER_READ_CALLS_H

#include "compiler/plan.h"
#include "dialects/rt/Rt.h"

namespace mtc::compiler {

/// One call; `work` is what it says of itself.
PlanCalls readCall(rt::WorkOpInterface op, const rt::Work &work);

/// Adds calls to those that are like them, or behind all others. They count
/// `times` over.
void addCall(const PlanCalls &more, std::vector<PlanCalls> &calls,
             int64_t times = 1);

/// What a rank of a stage calls in one step of training, and what it exchanges
/// with other stages, where it is the larger of both directions. None without
/// the entry train.
std::vector<PlanCalls> callsOfStep(const ProgramPlan &program);

} // namespace mtc::compiler
#endif // MTC_COMPILER_READ_CALLS_H
