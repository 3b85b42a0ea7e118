//===- Timelines.h - pipe.timeline to rt.timeline ---------------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_TIMELINES_H
#define MTC_PASSES_PLAN_TIMELINES_H

#include "dialects/pipe/Pipe.h"
#include "passes/plan/MemoryLayout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <utility>

namespace mtc::passes {

/// What the fragment is for that a slot of an entry runs; none of a slot with
/// an unknown letter.
std::optional<pipe::Phase> phaseOf(llvm::StringRef entry,
                                   const pipe::Row &slot);

/// What the order of slots in a timeline says of each.
class SlotOrder {
public:
  explicit SlotOrder(const pipe::Rows &rows);
  /// What holds of the microbatch of the slot in a row: what its schedule
  /// decided, and `first` or `last` where no slot of its phase and chunk stands
  /// before or behind it.
  pipe::Form conditionsOf(size_t row) const;

private:
  pipe::Rows rows;
  /// Rows, by phase and chunk. The order of a schedule that somebody wrote need
  /// not be that of the microbatches.
  using Ends = std::pair<size_t, size_t>;
  std::map<std::pair<int32_t, int64_t>, Ends> ends;
};

/// Of the forms of a fragment the one whose conditions all hold, and most; null
/// if there is none.
mlir::func::FuncOp formFor(llvm::ArrayRef<mlir::func::FuncOp> forms,
                           pipe::Form holds);

/// Replaces the pipe.timeline ops of `program`: slots become loads and runs of
/// fragments, transfers get addresses; `train` ends with reduce and apply. Of
/// the forms of a fragment a slot runs the one whose conditions all hold of it,
/// and most.
mlir::LogicalResult buildTimelines(rt::ProgramOp program,
                                   const ProgramLayout &layout);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_TIMELINES_H
