//===- request.h - which schedule somebody asks for -------------*- C++ -*-===//
#ifndef MTC_COMPILER_SCHEDULE_REQUEST_H
#define MTC_COMPILER_SCHEDULE_REQUEST_H

#include "passes/pipeline/schedules/asap.h"
#include "runtime/base/status.h"

#include <string>
#include <vector>

namespace mtc::compiler {

/// A schedule by name or file, and sizes; 0: not given.
struct ScheduleRequest {
  std::string nameOrFile;
  int64_t stages = 0, microbatches = 0, chunks = 0, group = 0;
  std::string costs; ///< "F=1,B=2", phases that are absent keep their cost
  int64_t latency = 0;
};

/// A schedule that may run, and what its slots take.
struct RequestedSchedule {
  schedules::Schedule schedule;
  schedules::Costs costs;
  int64_t latency = 0;
  /// What sets it apart from others: the order of its sums, and what mtc
  /// compile does not take of it.
  std::vector<std::string> notes;
};

/// Generates the schedule, a name of the registry before a file of that name,
/// or reads and checks the file. A name without sizes has 4 stages, 8
/// microbatches, and of chunks the fewest that it can have; a file has the
/// sizes that its slots say. Errors, all of a kind together:
///   usage           costs, sizes out of range, a file that is not in the
///                   notation
///   inputRejected   neither a name nor a file, a file that cannot be read
///   infeasible      sizes that the schedule cannot have, a file whose
///                   schedule may not run; a deadlock shows who waits for whom
runtime::Status readRequest(const ScheduleRequest &request,
                            RequestedSchedule &out);

} // namespace mtc::compiler
#endif // MTC_COMPILER_SCHEDULE_REQUEST_H
