//===- run_header.h - the first line of a run's log -------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_RUN_HEADER_H
#define MTC_RUNTIME_CONTROL_RUN_HEADER_H

#include "mtc/runtime/comm_kind.h"
#include "runtime/control/bundle.h"
#include "runtime/train/job.h"

#include <string>

namespace mtc::runtime {

/// What a run is, as the line of `runFields` with its newline: who runs what,
/// made of which versions, how it was told to train. The job has its start.
std::string runHeader(CommKind comm, const Bundle &bundle, const Job &job);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_RUN_HEADER_H
