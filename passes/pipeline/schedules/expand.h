//===- expand.h - from a schedule to programs -------------------*- C++ -*-===//
//
// Stamp, sort globally, project, group. All slots and transfers get a key in
// one total order L; the program of a rank is the projection of L on what
// touches the rank; contiguous transfers become groups.
//
// No execution deadlocks, even with blocking transfers and no buffers: give
// each event its position in L, the begin of a group the least position of its
// events less 1/2, its end the greatest plus 1/2. Every edge of the wait-for
// graph goes up, so there is no cycle. This holds for any costs and any depth:
// they matter for speed and memory only.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_EXPAND_H
#define MTC_PASSES_PIPELINE_SCHEDULES_EXPAND_H

#include "passes/pipeline/schedules/plan.h"

#include <functional>
#include <limits>

namespace mtc::schedules {

/// Receive as soon as produced.
inline constexpr int unlimitedDepth = std::numeric_limits<int>::max();

/// Which neighbouring transfers of a rank share a group: none, those with one
/// stamp, or all between two slots.
enum class Grouping : uint8_t { Single, SameStamp, WholeGap };

/// Runs work(0) to work(stages - 1), of which none needs another.
using EachStage =
    std::function<void(int stages, const std::function<void(int)> &work)>;
void oneAfterTheOther(int stages, const std::function<void(int)> &work);

struct ExpandOptions {
  Costs costs;
  /// Receive at most this many slots ahead of the consumer, at least 1. 1 is
  /// the least memory at receivers, 2 lets a transfer run beside a slot.
  int depth = 2;
  Grouping grouping = Grouping::SameStamp;
  bool overlap = false; ///< see assignSlots
  /// Posts transfers and waits for them later, see post_early.h; then of depth
  /// only receives know, and grouping is not asked.
  bool apart = false;
  EachStage eachStage = oneAfterTheOther; ///< may take threads
};

/// Expands a schedule that checkSchedule accepts. Where it does not, or an
/// option is out of range, the findings say why and nothing is returned.
std::optional<Plan> expand(const Schedule &schedule,
                           const ExpandOptions &options, Findings &findings);

/// Expands with at most `limit` slots per pool on every rank (none of a pool
/// that it does not reach): lowers the depth
/// from options.depth to 1 until the pools fit; `slot-limit` when none does.
/// Pools are never shrunk below what the order of a program needs.
std::optional<Plan> expandWithin(const Schedule &schedule,
                                 ExpandOptions options, const PoolCounts &limit,
                                 Findings &findings);

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_EXPAND_H
