//===- watchdog.h - a run in which nothing happens any more ------*- C++
//-*-===//
#ifndef MTC_RUNTIME_CONTROL_WATCHDOG_H
#define MTC_RUNTIME_CONTROL_WATCHDOG_H

#include "runtime/base/status.h"

#include <chrono>
#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// One rank as the launcher sees it.
struct RankProgress {
  int pid = -1;     ///< -1: ended
  int64_t step = 0; ///< that it began last
};

/// Notices that no rank began a step for a time. Ranks that end count as
/// progress, too.
class Watchdog {
public:
  /// `seconds` 0: never.
  explicit Watchdog(double seconds) : seconds_(seconds) {}
  /// Errors: hang, with the ranks that are behind the others or stopped.
  Status look(const std::vector<RankProgress> &ranks);

private:
  double seconds_;
  int64_t seen_ = -1;
  std::chrono::steady_clock::time_point since_{};
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_WATCHDOG_H
