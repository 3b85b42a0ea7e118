//===- restarts.h - starts ranks again after a death ------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_RESTARTS_H
#define MTC_RUNTIME_CONTROL_RESTARTS_H

#include "runtime/control/run_checkpoints.h"
#include "runtime/control/run_outputs.h"
#include "runtime/control/signals.h"

#include <chrono>

namespace mtc::runtime {

/// Counts the restarts of a run. Each comes after a pause, twice as long as the
/// one before: 1 s to a minute.
class Restarts {
public:
  Restarts(int64_t most, const SignalWatch &signals)
      : most_(most), signals_(signals), began_(Clock::now()) {}

  /// Whether there are restarts left for a run that ended so: a rank died,
  /// hung, or disagreed with others, and nobody asked for an end.
  bool mayFollow(const Status &ended) const;
  /// Has `job` go on from the newest whole checkpoint, cuts the log there, and
  /// pauses. `again` is false, with the reason on standard error, if none was
  /// written since the last start, or a signal came. Errors: those of
  /// RunCheckpoints::renew and LogFile::cutBehind.
  Status prepare(const Status &ended, RunCheckpoints &checkpoints,
                 RunOutputs &outputs, Job &job, bool &again);

private:
  using Clock = std::chrono::steady_clock;
  /// False: a signal came.
  bool pause(std::chrono::seconds time) const;

  int64_t most_, done_ = 0;
  const SignalWatch &signals_;
  Clock::time_point began_; ///< the last start
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_RESTARTS_H
