//===- schedule_file.h - schedules that people write ------------*- C++ -*-===//
//
// The notation of docs/schedules.md: one line of slots per stage, # to the end
// of a line is a comment. What the text does not say in words, the sizes, is
// read off the slots. Pure functions of the text: who opens the file names it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_SCHEDULE_FILE_H
#define MTC_PASSES_PIPELINE_SCHEDULES_SCHEDULE_FILE_H

#include "passes/pipeline/schedules/schedule.h"

namespace mtc::schedules {

/// Sizes that somebody gives, such as a strategy; the others are read off: as
/// many stages as lines of slots, one microbatch more than the highest number,
/// one chunk more than the highest number.
struct GivenSizes {
  std::optional<int> stages, microbatches, chunks;
};

/// Reads the text of a schedule file. Nothing is returned when there are
/// findings, each of which begins with the line that it is about:
///   phase, syntax    a word that is no slot
///   timeline-count   no line of slots, or not as many as stages are given
///   range            a slot outside the sizes, given or possible: every stage
///                    runs each microbatch of each chunk forwards once, so a
///                    line is as long as their product
/// Whether the result may run, checkSchedule says.
std::optional<Schedule> readScheduleText(std::string_view text,
                                         Findings &findings,
                                         const GivenSizes &given = {});

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_SCHEDULE_FILE_H
