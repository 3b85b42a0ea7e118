//===- draw.cpp - a schedule over time, in text ---------------------------===//

#include "passes/pipeline/schedules/draw.h"

#include <algorithm>
#include <fmt/format.h>

namespace mtc::schedules {
namespace {

size_t widestSlot(const Schedule &schedule) {
  size_t width = 1;
  for (const std::vector<Slot> &line : schedule.slots)
    for (const Slot &slot : line)
      width = std::max(width, toString(slot, schedule.chunks > 1).size());
  return width;
}

std::string drawStage(const Schedule &schedule, const Timing &timing, int stage,
                      size_t width) {
  std::vector<std::string> cells(timing.makespan, ".");
  const std::vector<Slot> &line = schedule.slots[stage];
  for (size_t i = 0; i < timing.heads[stage]; ++i) {
    int64_t start = timing.start[stage][i];
    std::fill(cells.begin() + start, cells.begin() + timing.end[stage][i], "-");
    cells[start] = toString(line[i], schedule.chunks > 1);
  }
  std::string row = fmt::format("stage {:2} |", stage);
  for (const std::string &cell : cells)
    row += fmt::format(" {:<{}}", cell, width);
  if (timing.heads[stage] < line.size())
    row += " !" + toString(line[timing.heads[stage]], schedule.chunks > 1);
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

} // namespace

std::string draw(const Schedule &schedule, const Costs &costs,
                 int64_t latency) {
  Timing timing = asap(schedule, costs, latency);
  size_t width = widestSlot(schedule);
  std::string text;
  for (size_t stage = 0; stage < schedule.slots.size(); ++stage)
    text += drawStage(schedule, timing, stage, width);
  if (!timing.complete)
    return text + "cannot go on\n";
  int64_t bubble = timing.makespan - idealTime(schedule, costs);
  double share = timing.makespan ? 100.0 * bubble / timing.makespan : 0.0;
  return text + fmt::format("makespan {}, bubble {} ({:.1f} %)\n",
                            timing.makespan, bubble, share);
}

} // namespace mtc::schedules
