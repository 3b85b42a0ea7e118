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
  std::string lacks; ///< what the compiler lacks to build it; empty: nothing
};
std::vector<ScheduleInfo> allSchedules();

/// What a strategy may name.
models::ScheduleNames scheduleNames();

/// Puts the default in where the strategy names none. Returns why the compiler
/// cannot train with its schedule; empty if it can.
std::string resolveSchedule(models::Strategy &strategy);

/// The rules of its schedule that a resolved strategy breaks, a sentence each.
std::vector<std::string> brokenScheduleRules(const models::Strategy &strategy);

} // namespace mtc::compiler
#endif // MTC_COMPILER_SCHEDULES_H
