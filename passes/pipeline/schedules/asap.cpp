//===- asap.cpp - when slots run if each starts as soon as it can ---------===//

#include "passes/pipeline/schedules/asap.h"

#include <algorithm>

namespace mtc::schedules {
namespace {

/// The latest end of what `slot` needs, or nothing while some of it has not
/// run.
std::optional<int64_t> readyAt(const Schedule &schedule, const SlotIndex &index,
                               const Timing &timing, int stage,
                               const Slot &slot, int64_t latency) {
  int64_t ready = 0;
  for (const Dependence &dep : dependences(schedule, stage, slot)) {
    int owner = schedule.stageOf(dep.u);
    int position =
        index.find(owner, dep.role, dep.microbatch, schedule.chunkOf(dep.u));
    if (position < 0 || static_cast<size_t>(position) >= timing.heads[owner])
      return std::nullopt;
    int64_t delay = owner == stage ? 0 : latency;
    ready = std::max(ready, timing.end[owner][position] + delay);
  }
  return ready;
}

} // namespace

int64_t Costs::of(Phase phase) const {
  switch (phase) {
  case Phase::F:
    return F;
  case Phase::B:
    return B;
  case Phase::I:
    return I;
  case Phase::W:
    return W;
  }
  return 0;
}

Role roleOf(Phase phase) {
  if (phase == Phase::F)
    return Role::Forward;
  return phase == Phase::W ? Role::Weight : Role::Backward;
}

SlotIndex::SlotIndex(const Schedule &schedule) : shape_(schedule) {
  positions_.assign(3 * size_t(shape_.virtualStages()) * shape_.microbatches,
                    -1);
  for (size_t stage = 0; stage < schedule.slots.size(); ++stage)
    for (size_t i = 0; i < schedule.slots[stage].size(); ++i) {
      const Slot &slot = schedule.slots[stage][i];
      if (!shape_.contains(slot))
        continue;
      int &position = positions_[key(stage, roleOf(slot.phase), slot.microbatch,
                                     slot.chunk)];
      if (position < 0)
        position = static_cast<int>(i);
    }
}

size_t SlotIndex::key(int stage, Role role, int microbatch, int chunk) const {
  size_t row = size_t(stage) * shape_.chunks + chunk;
  return (row * shape_.microbatches + microbatch) * 3 + static_cast<int>(role);
}

int SlotIndex::find(int stage, Role role, int microbatch, int chunk) const {
  return positions_[key(stage, role, microbatch, chunk)];
}

std::vector<Dependence> dependences(const Shape &shape, int stage,
                                    const Slot &slot) {
  int u = shape.virtualStage(stage, slot.chunk);
  std::vector<Dependence> deps;
  switch (roleOf(slot.phase)) {
  case Role::Forward:
    for (const Crossing &in : shape.into(u, /*gradient=*/false))
      deps.push_back(
          {Role::Forward, slot.microbatch, in.from, in.name, in.bytes});
    break;
  case Role::Backward:
    deps.push_back({Role::Forward, slot.microbatch, u});
    for (const Crossing &in : shape.into(u, /*gradient=*/true))
      deps.push_back(
          {Role::Backward, slot.microbatch, in.from, in.name, in.bytes});
    break;
  case Role::Weight:
    deps.push_back({Role::Backward, slot.microbatch, u});
    break;
  }
  return deps;
}

Timing asap(const Schedule &schedule, const Costs &costs, int64_t latency) {
  SlotIndex index(schedule);
  size_t stages = schedule.slots.size();
  Timing timing;
  timing.start.resize(stages);
  timing.end.resize(stages);
  timing.heads.assign(stages, 0);
  for (bool moved = true; moved;) {
    moved = false;
    timing.complete = true;
    for (size_t stage = 0; stage < stages; ++stage) {
      const std::vector<Slot> &line = schedule.slots[stage];
      size_t &head = timing.heads[stage];
      for (; head < line.size(); ++head, moved = true) {
        auto ready =
            readyAt(schedule, index, timing, stage, line[head], latency);
        if (!ready)
          break;
        int64_t free = head == 0 ? 0 : timing.end[stage].back();
        timing.start[stage].push_back(std::max(free, *ready));
        timing.end[stage].push_back(timing.start[stage].back() +
                                    costs.of(line[head].phase));
        timing.makespan = std::max(timing.makespan, timing.end[stage].back());
      }
      timing.complete &= head == line.size();
    }
  }
  return timing;
}

int64_t idealTime(const Schedule &schedule, const Costs &costs) {
  int64_t most = 0;
  for (const std::vector<Slot> &line : schedule.slots) {
    int64_t busy = 0;
    for (const Slot &slot : line)
      busy += costs.of(slot.phase);
    most = std::max(most, busy);
  }
  return most;
}

int mostBetween(const Schedule &schedule, int stage, Role from, Role to) {
  auto plays = [](Phase phase, Role role) {
    return roleOf(phase) == role || (phase == Phase::B && role == Role::Weight);
  };
  int held = 0, most = 0;
  for (const Slot &slot : schedule.slots[stage]) {
    if (plays(slot.phase, from) && !plays(slot.phase, to))
      most = std::max(most, ++held);
    else if (plays(slot.phase, to) && !plays(slot.phase, from))
      --held;
  }
  return most;
}

} // namespace mtc::schedules
