//===- in_flight.h - microbatches that a stage has on their way -*- C++ -*-===//
#ifndef MTC_COMPILER_IN_FLIGHT_H
#define MTC_COMPILER_IN_FLIGHT_H

#include "compiler/plan.h"

namespace mtc::compiler {

/// Microbatches for which the stage that has most of them keeps what their
/// forwards saved, at most at a time; of several chunks each counts. That is W
/// of docs/recompute.md: from so many on, `recompute = microbatches=N` is
/// `full`.
int64_t mostInFlight(const BundlePlan &plan);

} // namespace mtc::compiler
#endif // MTC_COMPILER_IN_FLIGHT_H
