//===- in_flight.cpp - microbatches that a stage has on their way ---------===//

#include "compiler/in_flight.h"

#include <algorithm>

namespace mtc::compiler {

/// The slots of a pool that rows of a program name.
static int64_t slotsOf(const ProgramPlan &program, MtcPool pool) {
  int64_t count = 0;
  for (size_t i = pool; i < program.slots.size();
       i += static_cast<size_t>(program.descriptor.pools))
    count = std::max<int64_t>(count, program.slots[i] + 1);
  return count;
}

int64_t mostInFlight(const BundlePlan &plan) {
  int64_t most = 0;
  for (const ProgramPlan &program : plan.programs) {
    auto inBoth = [&](MtcPool large, MtcPool small) {
      return slotsOf(program, large) + slotsOf(program, small);
    };
    // Halves of a backward keep `operand` longer than `saved`.
    most = std::max({most, inBoth(MTC_POOL_SAVED, MTC_POOL_SAVED_AGAIN),
                     inBoth(MTC_POOL_OPERAND, MTC_POOL_OPERAND_AGAIN)});
  }
  return most;
}

} // namespace mtc::compiler
