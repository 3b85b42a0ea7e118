//===- file.h - a schedule in a file ----------------------------*- C++ -*-===//
#ifndef MTC_COMPILER_SCHEDULE_FILE_H
#define MTC_COMPILER_SCHEDULE_FILE_H

#include "models/diagnostics.h"
#include "passes/pipeline/schedules/schedule_file.h"

namespace mtc::compiler {

/// Reads the schedule of a file with `given` sizes into `out`; whether it may
/// run is not looked at. What is wrong with it, where nothing is read: class
/// inputRejected for what is no regular file of at most 64 MiB, usage for all
/// that readScheduleText finds.
models::Diagnostics readScheduleFile(const std::string &path,
                                     const schedules::GivenSizes &given,
                                     schedules::Schedule &out);

} // namespace mtc::compiler
#endif // MTC_COMPILER_SCHEDULE_FILE_H
