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

/// The lines of slots, and where in the text they are.
struct ScheduleLines {
  std::vector<std::vector<Slot>> slots;
  std::vector<int> numbers; ///< of the lines, from 1

  /// Slots of the longest line.
  int longest() const;
};

/// Reads the text of a schedule file, all but its sizes. What is no slot is a
/// finding that begins with its line, code phase or syntax.
ScheduleLines readScheduleLines(std::string_view text, Findings &findings);

/// The schedule of lines that were read without findings. Nothing is returned
/// when there are findings, each of which begins with the line that it is
/// about:
///   timeline-count   no line of slots, or not as many as stages are given
///   range            a slot outside the sizes, given or possible, the first of
///                    a line, which says how many there are: every stage
///                    runs each microbatch of each chunk forwards once, and
///                    backwards where any slot does, so a line is as long as
///                    their product, or twice that
/// Whether the result may run, checkSchedule says.
std::optional<Schedule> scheduleOf(const ScheduleLines &lines,
                                   Findings &findings,
                                   const GivenSizes &given = {});

/// Both in turn.
std::optional<Schedule> readScheduleText(std::string_view text,
                                         Findings &findings,
                                         const GivenSizes &given = {});

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_SCHEDULE_FILE_H
