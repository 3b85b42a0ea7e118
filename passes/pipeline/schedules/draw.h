//===- draw.h - a schedule over time, in text -------------------*- C++ -*-===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_DRAW_H
#define MTC_PASSES_PIPELINE_SCHEDULES_DRAW_H

#include "passes/pipeline/schedules/asap.h"

namespace mtc::schedules {

/// One row per stage, one column per unit of time: the slot's name where it
/// starts, `-` while it goes on, `.` while the stage is idle. A last line has
/// the makespan, and the bubble as a share of it. Where the schedule cannot go
/// on the rows end with `!` and the slot that waits.
std::string draw(const Schedule &schedule, const Costs &costs,
                 int64_t latency = 0);

/// The time that a column of drawParts stands for: the greatest that divides
/// all costs of slots and the latency.
int64_t columnTime(const Schedule &schedule, const Costs &costs,
                   int64_t latency);

/// The rows alone under a line of times, in columns of columnTime; `|` before
/// the first slots of steady state and cool-down. For a schedule that goes on
/// to its end.
std::string drawParts(const Schedule &schedule, const Costs &costs,
                      int64_t latency = 0);

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_DRAW_H
