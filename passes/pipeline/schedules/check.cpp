//===- check.cpp - may this schedule run ----------------------------------===//

#include "passes/pipeline/schedules/check.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace mtc::schedules {
namespace {

class Checker {
public:
  explicit Checker(const Schedule &schedule)
      : schedule_(schedule), trains_(schedule.trains()) {}

  Findings run() {
    if (!checkTimelines())
      return std::move(findings_);
    findings_ = schedule_.crossings.findings(schedule_.virtualStages());
    if (!findings_.empty())
      return std::move(findings_);
    checkRange();
    forEachCell(&Checker::checkPresence);
    forEachCell(&Checker::checkOrder);
    bool sound = findings_.empty();
    checkAccumulation();
    if (sound)
      checkCycle();
    return std::move(findings_);
  }

private:
  /// The slots of one microbatch in a chunk: of each phase how many there are,
  /// and which is the first.
  struct Cell {
    std::array<size_t, 4> count{}, first{};
    bool has(Phase phase) const { return count[static_cast<int>(phase)] > 0; }
  };

  template <typename... Args>
  void report(const char *code, fmt::format_string<Args...> format,
              Args &&...args) {
    findings_.push_back(
        {code, fmt::format(format, std::forward<Args>(args)...)});
  }

  bool checkTimelines() {
    int found = static_cast<int>(schedule_.slots.size());
    if (schedule_.stages >= 1 && schedule_.microbatches >= 1 &&
        schedule_.chunks >= 1 && found == schedule_.stages)
      return true;
    report("timeline-count",
           "{} timelines for {} stages (m={}, v={}): give one line of slots "
           "per stage, and at least one stage, microbatch and chunk",
           found, schedule_.stages, schedule_.microbatches, schedule_.chunks);
    return false;
  }

  void checkRange() {
    for (int stage = 0; stage < schedule_.stages; ++stage)
      for (size_t i = 0; i < schedule_.slots[stage].size(); ++i) {
        const Slot &slot = schedule_.slots[stage][i];
        if (slot.phase > Phase::W)
          report("phase", "stage {} slot {}: phase {} is none of F, B, I, W",
                 stage, i, static_cast<int>(slot.phase));
        else if (!schedule_.contains(slot))
          report("range",
                 "stage {} slot {}: {} outside m={} v={}: expected microbatch "
                 "0 to {} and chunk 0 to {}",
                 stage, i, toString(slot, true), schedule_.microbatches,
                 schedule_.chunks, schedule_.microbatches - 1,
                 schedule_.chunks - 1);
      }
  }

  /// Calls `check` for every (stage, chunk, microbatch) with where its slots
  /// are.
  void forEachCell(void (Checker::*check)(int, const Slot &, const Cell &)) {
    int m = schedule_.microbatches;
    for (int stage = 0; stage < schedule_.stages; ++stage) {
      std::vector<Cell> cells(size_t(schedule_.chunks) * m);
      const std::vector<Slot> &line = schedule_.slots[stage];
      for (size_t i = 0; i < line.size(); ++i)
        if (line[i].phase <= Phase::W && schedule_.contains(line[i])) {
          Cell &cell = cells[line[i].chunk * m + line[i].microbatch];
          int phase = static_cast<int>(line[i].phase);
          if (cell.count[phase]++ == 0)
            cell.first[phase] = i;
        }
      for (size_t cell = 0; cell < cells.size(); ++cell)
        (this->*check)(stage, {Phase::F, int(cell % m), int(cell / m)},
                       cells[cell]);
    }
  }

  static std::string named(Phase phase, Slot cell) {
    cell.phase = phase;
    return toString(cell, true);
  }

  /// Where the slots of `stage` that equal `slot` are.
  const std::vector<size_t> &positions(int stage, const Slot &slot) {
    if (indexed_ != stage) {
      positions_.clear();
      const std::vector<Slot> &line = schedule_.slots[indexed_ = stage];
      for (size_t i = 0; i < line.size(); ++i)
        positions_[line[i]].push_back(i);
    }
    return positions_[slot];
  }

  void checkPresence(int stage, const Slot &cell, const Cell &at) {
    for (Phase phase : {Phase::F, Phase::B, Phase::I, Phase::W})
      if (at.count[static_cast<int>(phase)] > 1)
        report("duplicate", "stage {}: {} at slots {}: expected once", stage,
               named(phase, cell),
               fmt::join(positions(stage, {phase, cell.microbatch, cell.chunk}),
                         " and "));
    bool f = at.has(Phase::F), b = at.has(Phase::B), i = at.has(Phase::I),
         w = at.has(Phase::W);
    if (!f)
      report("missing", "stage {}: no {}", stage, named(Phase::F, cell));
    auto lacks = [&](const char *what) {
      report("missing",
             "stage {}: no {} for mb {} chunk {}: expected one B, or one I and "
             "one W",
             stage, what, cell.microbatch, cell.chunk);
    };
    if (b && (i || w))
      report("phase-mix",
             "stage {}: both B and I/W for mb {} chunk {}: expected one B, or "
             "one I and one W",
             stage, cell.microbatch, cell.chunk);
    else if (trains_ && !b && !i && !w)
      lacks("backward");
    else if (i != w)
      lacks(i ? "W" : "I");
  }

  void checkOrder(int stage, const Slot &cell, const Cell &at) {
    auto before = [&](Phase first, Phase second) {
      if (at.has(first) && at.has(second) &&
          at.first[static_cast<int>(first)] >
              at.first[static_cast<int>(second)])
        report("order", "stage {}: {} after {}: expected before it", stage,
               named(first, cell), named(second, cell));
    };
    before(Phase::F, Phase::B);
    before(Phase::F, Phase::I);
    before(Phase::I, Phase::W);
  }

  void checkAccumulation() {
    if (schedule_.anyOrder)
      return;
    for (int stage = 0; stage < schedule_.stages; ++stage)
      for (int chunk = 0; chunk < schedule_.chunks; ++chunk) {
        std::vector<int> order;
        for (const Slot &slot : schedule_.slots[stage])
          if (slot.chunk == chunk && schedule_.contains(slot) &&
              (slot.phase == Phase::B || slot.phase == Phase::W))
            order.push_back(slot.microbatch);
        if (!std::is_sorted(order.begin(), order.end()))
          report("accumulation-order",
                 "stage {} chunk {}: weight gradients added in order [{}]: "
                 "expected ascending microbatches, another order gives other "
                 "bits",
                 stage, chunk, fmt::join(order, ", "));
      }
  }

  void checkCycle() {
    Timing timing = asap(schedule_, Costs{});
    if (timing.complete)
      return;
    report("cycle", "stages wait for each other: {}",
           fmt::join(waitForCycle(schedule_, timing), "; "));
  }

  const Schedule &schedule_;
  bool trains_;
  Findings findings_;
  int indexed_ = -1; ///< the stage of positions_
  std::map<Slot, std::vector<size_t>> positions_;
};

/// The stage that the stuck head of `stage` waits for, and the slot there.
std::pair<int, Slot> waitsFor(const Schedule &schedule, const SlotIndex &index,
                              const Timing &timing, int stage) {
  const Slot &head = schedule.slots[stage][timing.heads[stage]];
  for (const Dependence &dep : dependences(schedule, stage, head)) {
    int owner = schedule.stageOf(dep.u), chunk = schedule.chunkOf(dep.u);
    int position = index.find(owner, dep.role, dep.microbatch, chunk);
    if (position >= 0 && size_t(position) >= timing.heads[owner])
      return {owner, schedule.slots[owner][position]};
  }
  return {stage, head};
}

} // namespace

Findings checkHalves(const Schedule &schedule) {
  Findings findings;
  for (size_t stage = 0; stage < schedule.slots.size(); ++stage) {
    std::set<int> whole, split; // chunks
    for (const Slot &slot : schedule.slots[stage]) {
      if (slot.phase == Phase::B)
        whole.insert(slot.chunk);
      else if (slot.phase != Phase::F)
        split.insert(slot.chunk);
    }
    for (int chunk : whole)
      if (split.contains(chunk))
        findings.push_back(
            {"phase-mix",
             fmt::format(
                 "stage {} chunk {}: expected B in all microbatches, or "
                 "I and W in all, found both",
                 stage, chunk)});
  }
  return findings;
}

Findings checkSchedule(const Schedule &schedule) {
  return Checker(schedule).run();
}

std::vector<std::string> waitForCycle(const Schedule &schedule,
                                      const Timing &timing) {
  if (timing.complete)
    return {};
  SlotIndex index(schedule);
  int stage = 0;
  while (timing.heads[stage] == schedule.slots[stage].size())
    ++stage;
  std::vector<int> path;
  std::vector<std::string> lines;
  while (std::find(path.begin(), path.end(), stage) == path.end()) {
    path.push_back(stage);
    auto [owner, slot] = waitsFor(schedule, index, timing, stage);
    bool chunked = schedule.chunks > 1;
    lines.push_back(fmt::format(
        "stage {}: {} waits for {} of stage {}", stage,
        toString(schedule.slots[stage][timing.heads[stage]], chunked),
        toString(slot, chunked), owner));
    stage = owner;
  }
  auto first = std::find(path.begin(), path.end(), stage) - path.begin();
  lines.erase(lines.begin(), lines.begin() + first);
  return lines;
}

} // namespace mtc::schedules
