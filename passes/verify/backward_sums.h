//===- backward_sums.h - sums of gradients before the update ----*- C++ -*-===//
//
// A bucket may be summed over ranks as soon as its last gradient of the step is
// there, so in the backward of the last microbatch. What such a sum means is
// what it means in `reduce` (update_interpreter.h); when it may run, the rows
// of train say.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_VERIFY_BACKWARD_SUMS_H
#define MTC_PASSES_VERIFY_BACKWARD_SUMS_H

#include "passes/verify/update_interpreter.h"

namespace mtc::passes::verify {

/// Runs the sums of accumulators of all rows of train before the update, in
/// their order. Reports a sum that is not behind everything else that
/// microbatches do to what it sums, be it in its own fragment or in a later
/// row. That each microbatch adds once, checkAccumulators and checkTimelines
/// prove.
void runBackwardSums(const Stage &stage, UpdateInterpreter &interpreter,
                     Report &report);

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_BACKWARD_SUMS_H
