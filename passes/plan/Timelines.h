//===- Timelines.h - pipe.timeline to rt.timeline ---------------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_TIMELINES_H
#define MTC_PASSES_PLAN_TIMELINES_H

#include "dialects/pipe/Pipe.h"
#include "passes/plan/MemoryLayout.h"

namespace mtc::passes {

/// What the fragment is for that a slot of a timeline runs; none of a slot with
/// an unknown letter.
std::optional<pipe::Phase> phaseOf(pipe::SlotOp slot);

/// Replaces the pipe.timeline ops of `program`: slots become loads and runs of
/// fragments, transfers get addresses; `train` ends with reduce and apply. Of a
/// fragment that has forms of the first and the last microbatch, the first slot
/// runs the one and that of the highest microbatch the other.
mlir::LogicalResult buildTimelines(rt::ProgramOp program,
                                   const ProgramLayout &layout);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_TIMELINES_H
