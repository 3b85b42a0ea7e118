//===- Timelines.h - pipe.timeline to rt.timeline ---------------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_TIMELINES_H
#define MTC_PASSES_PLAN_TIMELINES_H

#include "dialects/pipe/Pipe.h"
#include "passes/plan/MemoryLayout.h"

#include <map>
#include <utility>

namespace mtc::passes {

/// What the fragment is for that a slot of a timeline runs; none of a slot with
/// an unknown letter.
std::optional<pipe::Phase> phaseOf(pipe::SlotOp slot);

/// What the order of slots in a timeline says of each.
class SlotOrder {
public:
  explicit SlotOrder(pipe::TimelineOp timeline);
  /// What holds of the microbatch of a slot of the timeline: what its schedule
  /// decided, and `first` or `last` where no slot of its phase and chunk stands
  /// before or behind it.
  pipe::Form conditionsOf(pipe::SlotOp slot) const;

private:
  /// By phase and chunk. The order of a schedule that somebody wrote need not
  /// be that of the microbatches.
  std::map<std::pair<llvm::StringRef, int64_t>, mlir::Operation *> first, last;
};

/// Replaces the pipe.timeline ops of `program`: slots become loads and runs of
/// fragments, transfers get addresses; `train` ends with reduce and apply. Of
/// the forms of a fragment a slot runs the one whose conditions all hold of it,
/// and most.
mlir::LogicalResult buildTimelines(rt::ProgramOp program,
                                   const ProgramLayout &layout);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_TIMELINES_H
