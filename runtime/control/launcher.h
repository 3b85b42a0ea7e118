//===- launcher.h - one process per rank ------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_LAUNCHER_H
#define MTC_RUNTIME_CONTROL_LAUNCHER_H

#include "runtime/control/bundle.h"
#include "runtime/control/signals.h"
#include "runtime/train/job.h"

#include <optional>

namespace mtc::runtime {

/// Starts a process per rank over shm and waits for all of them. When one ends
/// badly, the others' calls fail; those that have not ended after two seconds
/// are killed. The first signal closes the step gate: all ranks
/// end behind one step. The second kills.
Status launchProcesses(const Bundle &bundle, const Job &job,
                       std::optional<double> timeout,
                       const SignalWatch &signals);

/// All ranks as threads of this process. `strict`: deadlocks are detected.
Status runThreads(const Bundle &bundle, const Job &job, bool strict,
                  const SignalWatch &signals);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_LAUNCHER_H
