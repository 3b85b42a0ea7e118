//===- slots.h - which slots of pools are in use, row by row ----*- C++ -*-===//
#ifndef MTC_COMPILER_EXPLAIN_SLOTS_H
#define MTC_COMPILER_EXPLAIN_SLOTS_H

#include "compiler/plan.h"

#include <map>
#include <vector>

namespace mtc::compiler {

/// A pool of a program: where slot 0 begins in the arena, bytes of a slot.
struct PoolPlace {
  int64_t base = 0, stride = 0;
};
using PoolPlaces = std::map<MtcPool, PoolPlace>;

/// A slot holds values of a microbatch from the first row that names it for
/// this one to the last, both included.
struct SlotUse {
  MtcPool pool = MTC_POOL_SAVED;
  int64_t slot = 0, microbatch = 0;
  int64_t first = 0, last = 0;
};

/// All uses in a timeline, by their first rows, but of pools that have no
/// place. Of a microbatch that comes back with another chunk and finds its slot
/// again, both times are one use if only transfers lie between.
std::vector<SlotUse> slotUses(const ProgramPlan &program,
                              const PlanTimeline &timeline,
                              const PoolPlaces &pools);

} // namespace mtc::compiler
#endif // MTC_COMPILER_EXPLAIN_SLOTS_H
