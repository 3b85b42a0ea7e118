//===- flight_files.h - records of the ranks of a run -----------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_FLIGHT_FILES_H
#define MTC_RUNTIME_CONTROL_FLIGHT_FILES_H

#include "runtime/control/bundle.h"
#include "runtime/control/flight_memory.h"
#include "runtime/control/outcome.h"
#include "runtime/flight/verdict.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// What all ranks of a bundle noted, as it is now; of each collective the part
/// of the model as well, where the bundle says it.
std::vector<FlightRecord> takeRecords(const FlightMemory &memory,
                                      const Bundle &bundle);

/// Whether the last operations of ranks say something of how a run ended.
bool isForRecords(const Status &status);

/// Adds how ranks ended to their records, writes a file for each into `folder`,
/// which is made, and says so in `status`, or why not. An empty `folder`: only
/// how to get them is said.
Status withRecords(Status status, std::vector<FlightRecord> records,
                   const std::vector<RankOutcome> &outcomes,
                   const std::string &folder);

/// For the message of a hang: the first operation in which ranks differ, and
/// who is waited for.
std::string verdictText(const std::vector<FlightRecord> &records);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_FLIGHT_FILES_H
