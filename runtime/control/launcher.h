//===- launcher.h - one process per rank ------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_LAUNCHER_H
#define MTC_RUNTIME_CONTROL_LAUNCHER_H

#include "runtime/control/bundle.h"
#include "runtime/control/signals.h"
#include "runtime/train/job.h"

#include <functional>
#include <optional>

namespace mtc::runtime {

/// How ranks are started and looked at.
struct LaunchOrder {
  std::optional<double> timeout; ///< of processes: as RunOptions::timeout
  bool strict = false;           ///< of threads: deadlocks are detected
  /// Gets what each rank did last, when one died, hangs or disagrees; empty:
  /// nowhere.
  std::string flight;
  /// Called when all ranks have what they load of a checkpoint, on any thread,
  /// once or more often.
  std::function<void()> loaded;
};

/// Starts a process per rank over shm and waits for all of them. When one ends
/// badly, the others' calls fail; those that have not ended after two seconds
/// are killed. The first signal closes the step gate: all ranks
/// end behind one step. The second kills.
Status launchProcesses(const Bundle &bundle, const Job &job,
                       const LaunchOrder &order, const SignalWatch &signals);

/// All ranks as threads of this process.
Status runThreads(const Bundle &bundle, const Job &job,
                  const LaunchOrder &order, const SignalWatch &signals);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_LAUNCHER_H
