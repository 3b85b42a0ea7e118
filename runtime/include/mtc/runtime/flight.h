//===- flight.h - what ranks did last ---------------------------*- C++ -*-===//
//
// What `mtc flight` does with the folder that a run left whose ranks died, hung
// or disagreed: one JSON file a rank, in the shape of PyTorch's flight recorder
// for NCCL.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_FLIGHT_H
#define MTC_RUNTIME_FLIGHT_H

#include "mtc/runtime/status.h"

#include <string>

namespace mtc::runtime {

/// The first operation in which ranks differ, what each rank does and whom it
/// waits for, and who holds the others up. JSON instead of text if `json`.
/// Errors: inputRejected, when there are no records, when one is damaged, or
/// when two are of different plans.
Status describeFlight(const std::string &folder, bool json, std::string &text);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_FLIGHT_H
