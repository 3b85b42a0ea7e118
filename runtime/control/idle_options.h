//===- idle_options.h - options that change nothing -------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_IDLE_OPTIONS_H
#define MTC_RUNTIME_CONTROL_IDLE_OPTIONS_H

#include "mtc/runtime/run.h"
#include "runtime/control/bundle.h"
#include "runtime/train/job.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// A run whose data were found.
struct RunFacts {
  const RunOptions &options;
  const Job &job;
  const Bundle &bundle;
  CommKind comm;
};

/// A line for each option of the command line that changes nothing in this run:
/// "--hysteresis 4 has no effect: ..." and why. A recipe is for many bundles:
/// of its keys only those count that a run without them says nothing of.
std::vector<std::string> idleOptions(const RunFacts &facts);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_IDLE_OPTIONS_H
