//===- asap.h - when slots run if each starts as soon as it can -*- C++ -*-===//
//
// One simulation for all: the checker sees it stop (cycle), the drawing and the
// cost model take its times, the expansion its stamps.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PIPELINE_SCHEDULES_ASAP_H
#define MTC_PASSES_PIPELINE_SCHEDULES_ASAP_H

#include "passes/pipeline/schedules/schedule.h"

namespace mtc::schedules {

/// Time of one slot (of one chunk) per phase, positive integers in any unit.
struct Costs {
  int64_t F = 1, B = 2, I = 1, W = 1;
  int64_t of(Phase phase) const;
};

/// The three things one (stage, chunk, microbatch) has: B and I are one role.
enum class Role : uint8_t { Forward, Backward, Weight };
Role roleOf(Phase phase);

/// Position of each slot in its stage's list.
class SlotIndex {
public:
  /// Slots out of range are left out; of duplicates the first counts.
  explicit SlotIndex(const Schedule &schedule);
  /// Position in the list of `stage`, or -1.
  int find(int stage, Role role, int microbatch, int chunk) const;

private:
  size_t key(int stage, Role role, int microbatch, int chunk) const;
  Shape shape_;
  std::vector<int> positions_;
};

/// A slot that another one needs: role of microbatch at virtual stage `u`, and
/// the value that it needs of it; its own F and I leave it more than one.
struct Dependence {
  Role role;
  int microbatch;
  int u;
  CrossingName name = {};
  int64_t bytes = 0;
};

/// F needs the F, B and I the B or I, of each virtual stage that sends it a
/// value; B and I need their F, and W its I. In a chain at most two.
std::vector<Dependence> dependences(const Shape &shape, int stage,
                                    const Slot &slot);

/// Start and end per stage and position. Where the simulation stopped because
/// nothing could start, `heads[stage]` is the first slot that did not.
struct Timing {
  std::vector<std::vector<int64_t>> start, end;
  std::vector<size_t> heads;
  bool complete = false;
  int64_t makespan = 0;
};

/// Runs every stage's list in order; a slot starts when its stage is free and
/// what it needs has ended, plus `latency` when that is on another stage.
/// Expects one list per stage and slots in range.
Timing asap(const Schedule &schedule, const Costs &costs, int64_t latency = 0);

/// Busy time of the busiest stage; makespan less this is the bubble.
int64_t idealTime(const Schedule &schedule, const Costs &costs);

/// The most slots of `stage` that ran `from` and not yet `to`, counted over its
/// list: Forward to Backward is activations in flight, Backward to Weight saved
/// operands of weight gradients. B counts as Backward and Weight.
int mostBetween(const Schedule &schedule, int stage, Role from, Role to);

} // namespace mtc::schedules
#endif // MTC_PASSES_PIPELINE_SCHEDULES_ASAP_H
