//===- flight_files.h - records of the ranks of a run -----------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_FLIGHT_FILES_H
#define MTC_RUNTIME_CONTROL_FLIGHT_FILES_H

#include "mtc/runtime/run.h"
#include "runtime/control/bundle.h"
#include "runtime/control/flight_memory.h"
#include "runtime/control/outcome.h"
#include "runtime/flight/verdict.h"

#include <span>
#include <string>
#include <vector>

namespace mtc::runtime {

/// What all ranks of a bundle noted, as it is now; of each collective the part
/// of the model as well, where the bundle says it.
std::vector<FlightRecord> takeRecords(const FlightMemory &memory,
                                      const Bundle &bundle);
/// The same of some of them.
std::vector<FlightRecord> takeRecords(const FlightMemory &memory,
                                      const Bundle &bundle,
                                      std::span<const int> ranks);

/// Where a run writes them: the folder of --flight, or one in that of its
/// checkpoints; empty: nowhere.
std::string flightFolder(const RunOptions &options);

/// Whether the last operations of ranks say something of how a run ended.
bool isForRecords(const Status &status);

/// Adds how ranks ended to their records, writes a file for each into `folder`,
/// which is made, and says so in `status`, or why not. An empty `folder`: only
/// how to get them is said.
Status withRecords(Status status, std::vector<FlightRecord> records,
                   const std::vector<RankOutcome> &outcomes,
                   const std::string &folder);

/// Says where records are, or how to get them.
Status whereRecordsAre(const Status &status, const std::string &folder);

/// For the message of a hang: the first operation in which ranks differ, and
/// who is waited for.
std::string verdictText(const std::vector<FlightRecord> &records);
/// A hang with the same of the files in a folder, if it has them; any other
/// status as it is.
Status withVerdict(Status status, const std::string &folder);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_FLIGHT_FILES_H
