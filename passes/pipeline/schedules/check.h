//===- check.h - may this schedule run --------------------------*- C++ -*-===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_CHECK_H
#define MTC_PASSES_PIPELINE_SCHEDULES_CHECK_H

#include "passes/pipeline/schedules/asap.h"

namespace mtc::schedules {

/// All broken rules of a schedule, in this order:
///   timeline-count      one list per stage (nothing else is checked without)
///   crossing            those of Crossings::findings (nothing else either)
///   phase, range        every slot is one, and exists
///   missing, duplicate, phase-mix
///                       one F and, when any stage trains, one B or one I and
///                       one W for each (stage, chunk, microbatch)
///   order               F before B and I, I before W
///   accumulation-order  weight gradients of a chunk ascend in the microbatch:
///                       another order is another sum; not where the
///                       schedule may have any (`anyOrder`)
///   cycle               stages wait for each other; only looked for when the
///                       slots are complete and in order
Findings checkSchedule(const Schedule &schedule);

/// What the compiler wants beside: of a stage and chunk there is one backward
/// fragment, or the two halves of it, so all microbatches have B, or all have I
/// and W (code `phase-mix`).
Findings checkHalves(const Schedule &schedule);

/// The wait-for cycle of stages where `timing` of asap stopped:
/// one line per stage, `stage 0: B0 waits for B0 of stage 1`. Empty when
/// complete.
std::vector<std::string> waitForCycle(const Schedule &schedule,
                                      const Timing &timing);

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_CHECK_H
