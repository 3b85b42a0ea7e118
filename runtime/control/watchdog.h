//===- watchdog.h - a run in which nothing happens any more -----*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_WATCHDOG_H
#define MTC_RUNTIME_CONTROL_WATCHDOG_H

#include "runtime/base/status.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// One rank as the launcher sees it.
struct RankProgress {
  int pid = -1;          ///< -1: ended; 0: of another host
  int64_t step = 0;      ///< that it began last
  int64_t beats = 0;     ///< batches that it evaluated between steps
  std::string held = {}; ///< why it cannot go on, where that is known
};

/// Whether a process is stopped, by SIGSTOP or a debugger.
bool isStopped(int pid);

/// Who the others wait for: one that is held, else one that is behind; of
/// several the first.
int suspectOf(const std::vector<RankProgress> &ranks);

/// Notices that no rank began a step for a time. Ranks that end count as
/// progress, too. Time in which nobody looks does not count: a run that its
/// user stops in the terminal and lets go on later did not hang.
class Watchdog {
public:
  using Clock = std::chrono::steady_clock;

  /// `seconds` 0: never; none: five times the longest silence between two steps
  /// so far and at least ten minutes, but at least an hour while no step has a
  /// measure (until all ranks began their second) and from `lastStep` on,
  /// behind which files are written.
  explicit Watchdog(std::optional<double> seconds, int64_t lastStep = INT64_MAX)
      : seconds_(seconds), lastStep_(lastStep) {}
  /// To be called every second or more often. `ending`: the ranks were asked to
  /// stop and write files, for which they have an hour. Errors: hang, with the
  /// ranks that are behind the others or stopped.
  Status look(const std::vector<RankProgress> &ranks, bool ending = false,
              Clock::time_point now = Clock::now());

private:
  double limit() const;

  std::optional<double> seconds_;
  int64_t lastStep_;
  bool measured_ = false; ///< all ranks began their second step
  bool ending_ = false;   ///< a rank began the last one, or ended
  int64_t seen_ = -1;     ///< sum of the steps
  double silence_ = 0;    ///< seconds since the last progress
  double longest_ = 0;    ///< silence between two steps
  Clock::time_point last_{};
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_WATCHDOG_H
