//===- file.h - a schedule in a file ----------------------------*- C++ -*-===//
#ifndef MTC_COMPILER_SCHEDULE_FILE_H
#define MTC_COMPILER_SCHEDULE_FILE_H

#include "models/diagnostics.h"
#include "passes/pipeline/schedules/schedule_file.h"

#include <map>
#include <string>

namespace mtc::compiler {

/// The lines of schedule files, each read once, for a search that looks at the
/// same one with many sizes.
class ScheduleFiles {
public:
  struct File {
    schedules::ScheduleLines lines;
    models::Diagnostics wrong; ///< as those of readScheduleFile; no lines then
  };
  const File &read(const std::string &path);

private:
  std::map<std::string, File> files;
};

/// Reads the schedule of a file with `given` sizes into `out`; whether it may
/// run is not looked at. What is wrong with it, where nothing is read: class
/// inputRejected for what is no regular file of at most 64 MiB, usage for all
/// that readScheduleLines and scheduleOf find.
models::Diagnostics readScheduleFile(ScheduleFiles &files,
                                     const std::string &path,
                                     const schedules::GivenSizes &given,
                                     schedules::Schedule &out);

} // namespace mtc::compiler
#endif // MTC_COMPILER_SCHEDULE_FILE_H
