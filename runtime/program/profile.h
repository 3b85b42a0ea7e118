//===- profile.h - how long the ops of fragments take -----------*- C++ -*-===//
//
// Sums over steps, where a trace has each call of one. Without a profile each
// op costs a call that finds none.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_PROGRAM_PROFILE_H
#define MTC_RUNTIME_PROGRAM_PROFILE_H

#include "mtc/runtime/abi.h"
#include "runtime/base/trace_time.h"

#include <array>
#include <cstdint>
#include <vector>

namespace mtc::runtime {

struct TimedCalls {
  int64_t calls = 0, nanoseconds = 0;
  /// Of collectives that ran beside fragments: when they did, which is in
  /// nobody's `nanoseconds`.
  int64_t beside = 0;

  void add(const TraceTime &time) {
    ++calls;
    nanoseconds += time.end - time.begin;
  }
};

/// Of one rank. Kept by the thread that walks the timeline, but for
/// `commTimes`.
class RankProfile {
public:
  /// By fragment of the program, and op of it as rt::takesTime numbers them: as
  /// many as ran.
  std::vector<std::vector<TimedCalls>> ops;
  std::vector<TimedCalls> fragments; ///< whole, by fragment
  std::array<TimedCalls, 5> rows;    ///< by MtcStepKind
  std::vector<double> seconds;       ///< of each step
  std::vector<TraceTime> commTimes;  ///< of collectives beside fragments

  /// What mtc_profile_op says.
  void opBegins(const MtcStep &row, int32_t op);
  /// A row of a timeline is done.
  void rowEnds(const MtcStep &row, const TraceTime &time);
  /// A collective was given to the stream beside fragments, by the op that has
  /// begun.
  void issued() { issued_.push_back(open_); }
  /// A step is done, and so are the collectives that it issued.
  void stepEnds(double itsSeconds);
  /// Forgets all times, and keeps the memory. Only between steps.
  void clear();

private:
  struct Place {
    int32_t fragment = 0, op = -1; ///< -1: none
  };
  TimedCalls &at(Place place);

  Place open_;
  int64_t began_ = 0;
  std::vector<Place> issued_; ///< as commTimes
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROGRAM_PROFILE_H
