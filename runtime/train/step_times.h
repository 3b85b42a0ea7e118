//===- step_times.h - where the time of a step goes -------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_STEP_TIMES_H
#define MTC_RUNTIME_TRAIN_STEP_TIMES_H

#include "mtc/runtime/log_fields.h"
#include "runtime/program/rank.h"
#include "runtime/program/trace.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace mtc::runtime {

/// Of one rank, over steps. A part of level 1 has the time of those within it,
/// too.
class StepTimes {
public:
  static constexpr size_t kParts = 19;
  using Seconds = std::array<double, kParts>;

  /// Adds a step that took `seconds`; what the trace does not have is "other".
  /// Each span counts without those that lie in it, as a collective in a
  /// fragment.
  void add(const Descriptor &program, const RankTrace &trace, double seconds);
  const Seconds &seconds() const { return seconds_; }
  int64_t steps() const { return steps_; }
  void clear();

private:
  Seconds seconds_{};
  int64_t steps_ = 0;
};

/// Times of a step, over ranks, in milliseconds.
struct TimesOverRanks {
  struct Part {
    float least = 0, mean = 0, largest = 0;
  };
  std::array<Part, StepTimes::kParts> parts;
};

/// Gathers the means of what `times` has; every rank calls it. Errors: those of
/// the communicator.
Status gatherTimes(RankState &rank, const StepTimes &times,
                   TimesOverRanks &out);

/// "{"forward": [1.5, 1.6, 1.7], ...}": least, mean, largest of the parts of a
/// level, 1 or 2, that are not 0 on all ranks. Returns the part of `buffer`
/// that was filled.
std::string_view formatTimes(const TimesOverRanks &times, int64_t level,
                             std::span<char> buffer);

/// Whether a part is shown at a level.
bool isOfLevel(const TimePart &part, int64_t level);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_STEP_TIMES_H
