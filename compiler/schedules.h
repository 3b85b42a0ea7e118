//===- schedules.h - the schedules that mtc knows ---------------*- C++ -*-===//
//
// What the registry of schedules says, for strategies and for people.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_SCHEDULES_H
#define MTC_COMPILER_SCHEDULES_H

#include "models/strategy.h"

#include <string>
#include <vector>

namespace mtc::compiler {

struct ScheduleInfo {
  std::string name;
  std::string entry;        ///< of the program: train or eval
  std::string what;         ///< a line for people
  bool needsChunks = false; ///< two or more a stage
};
std::vector<ScheduleInfo> allSchedules();

/// A line for people of each.
std::string schedulesText();

/// What a strategy may name.
models::ScheduleNames scheduleNames();

class ScheduleFiles;

/// Puts the default in where the strategy names none. Returns why the compiler
/// cannot train with its schedule; empty if it can.
std::string resolveSchedule(models::Strategy &strategy);

/// What is wrong with the schedule of a resolved strategy: rules of a named one
/// that its sizes break; of a file all that is wrong with it. A file that is
/// right is read into `scheduleSlots`, and its name, without folders and
/// ending, takes the place of the path.
models::Diagnostics readSchedule(models::Strategy &strategy);

/// The same of many strategies: a file is read once, and then in `files`.
models::Diagnostics readSchedule(models::Strategy &strategy,
                                 ScheduleFiles &files);

} // namespace mtc::compiler
#endif // MTC_COMPILER_SCHEDULES_H
