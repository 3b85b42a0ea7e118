//===- slots.h - which slot of its pool a value gets ------------*- C++ -*-===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_SLOTS_H
#define MTC_PASSES_PIPELINE_SCHEDULES_SLOTS_H

#include "passes/pipeline/schedules/plan.h"

namespace mtc::schedules {

/// Any free slot does: the lowest one, or, with Reuse::Oldest, the one that has
/// been free the longest, for values that others may still be reading.
enum class Reuse : uint8_t { Lowest, Oldest };

/// Gives every value of a rank, whose items are in `plan`, a slot; how many
/// each pool has then. Ranks may be done at once. A value lives
/// from the position of its write to that of its last read, a group being one
/// position; two values in one slot never share a position. The left-edge rule
/// (intervals by begin, lowest free slot) needs exactly as many slots as values
/// overlap at most, the fewest possible for this order of the program. Reuse
/// goes forward in the program, so it adds no cycle, also over steps.
///
/// Where the plan has small slots, this also says which computations use them
/// (Compute::isSmall).
///
/// With `overlap` a received value is held from the computation before its
/// receive, and a sent one to the computation after its send: then transfers
/// may run beside computations.
PoolCounts assignSlots(Plan &plan, int rank, bool overlap = false,
                       Reuse reuse = Reuse::Lowest);

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_SLOTS_H
