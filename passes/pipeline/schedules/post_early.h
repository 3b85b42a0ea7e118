//===- post_early.h - transfers posted and waited for apart -----*- C++ -*-===//
//
// A value is posted by its sender right behind the slot that makes it, and by
// its receiver some slots ahead of the one that reads it (options.depth). The
// receiver waits right before that slot; the sender as late as its buffer
// allows: before the slot that writes it again, or at the end. So a stage goes
// on while others are not ready, and how far is said by the buffers that it
// has.
//
// How many that are comes from the as-soon-as-possible times: a buffer is free
// for reuse one slot behind the first that starts when the receiver has posted.
// Sender and receiver post the values of a channel in one order, that in which
// they are made: where one is needed before an older one, both are received
// early.
//
// No execution deadlocks: give a post the time when its stage reaches it (as
// soon as possible), a wait and a slot the time when the slot behind it starts.
// What a wait is for was posted at an earlier time, or at the same, and so were
// all before it in its channel; waits of one time wait for posts alone.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_POST_EARLY_H
#define MTC_PASSES_PIPELINE_SCHEDULES_POST_EARLY_H

#include "passes/pipeline/schedules/expand.h"

namespace mtc::schedules {

/// The plan of a schedule that checkSchedule accepts, with options in range.
Plan postEarly(const Schedule &schedule, const ExpandOptions &options);

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_POST_EARLY_H
