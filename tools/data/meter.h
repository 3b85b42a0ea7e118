//===- meter.h - how far a command is, for people ---------------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_METER_H
#define MTC_TOOLS_DATA_METER_H

#include "runtime/base/status.h"
#include "runtime/train/progress.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace mtc::data {

/// How a command is watched, and ended before its time.
struct Watch {
  int progressFd = -1;   ///< -1: nothing is shown
  bool rewrites = false; ///< a terminal: one line, written again
  const std::atomic<bool> *stop = nullptr; ///< becomes true: end
};

/// Says how much of a command is done, how fast it goes, and how long the rest
/// takes at that rate.
class Meter {
public:
  /// `total` bytes are to be done, or steps of another kind.
  Meter(std::string what, int64_t total, const Watch &watch,
        bool countsBytes = true);

  /// So many bytes are done, of `units` such as "tokens"; empty: of none.
  /// Errors: interrupted, when the command is to end.
  runtime::Status at(int64_t done, int64_t count = 0, const char *units = "");
  double seconds() const; ///< since it was made

private:
  std::string what_;
  int64_t total_;
  bool countsBytes_;
  const std::atomic<bool> *stop_;
  runtime::ProgressLine line_;
  std::chrono::steady_clock::time_point start_;
};

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_METER_H
