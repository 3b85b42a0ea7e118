//===- interpreter.h - runs plans on numbers --------------------*- C++ -*-===//
//
// Blocking rendezvous, no buffers but the slots, one stream per rank: the
// strictest machine. Sums depend on their order (acc·31 + x), as sums of floats
// do.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_UNIT_SCHEDULES_INTERPRETER_H
#define MTC_TEST_UNIT_SCHEDULES_INTERPRETER_H

#include "passes/pipeline/schedules/plan.h"

namespace mtc::schedules::test {

/// `error` is empty when all programs ran to their ends: else deadlock, empty
/// read, size, peer, slot, operands or chunk. `sums[u]` is what the weight
/// gradients of virtual stage u added up to.
struct Outcome {
  std::string error;
  std::vector<uint64_t> sums;
  bool operator==(const Outcome &) const = default;
};

/// Runs the plan `steps` times; slots keep what they hold from step to step.
Outcome interpret(const Plan &plan, int steps = 1);

} // namespace mtc::schedules::test
#endif // MTC_TEST_UNIT_SCHEDULES_INTERPRETER_H
