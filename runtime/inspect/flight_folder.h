//===- flight_folder.h - records of ranks in a folder -----------*- C++ -*-===//
#ifndef MTC_RUNTIME_INSPECT_FLIGHT_FOLDER_H
#define MTC_RUNTIME_INSPECT_FLIGHT_FOLDER_H

#include "runtime/flight/record.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// The records rank*.json of a folder, by rank. Errors: inputRejected, when it
/// has none, one that is damaged, or those of two runs.
Status readRecords(const std::string &folder,
                   std::vector<FlightRecord> &records);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_INSPECT_FLIGHT_FOLDER_H
