//===- Timelines.h - pipe.timeline to rt.timeline ---------------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_TIMELINES_H
#define MTC_PASSES_PLAN_TIMELINES_H

#include "passes/plan/MemoryLayout.h"

namespace mtc::passes {

/// Replaces the pipe.timeline ops of `program`: slots become loads and runs of
/// fragments, transfers get addresses; `train` ends with reduce and apply.
mlir::LogicalResult buildTimelines(rt::ProgramOp program,
                                   const ProgramLayout &layout);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_TIMELINES_H
