//===- draw.cpp - a schedule over time, in text ---------------------------===//

#include "passes/pipeline/schedules/draw.h"

#include "passes/pipeline/schedules/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace mtc::schedules {
namespace {

size_t widestSlot(const Schedule &schedule) {
  size_t width = 1;
  for (const std::vector<Slot> &line : schedule.slots)
    for (const Slot &slot : line)
      width = std::max(width, toString(slot, schedule.chunks > 1).size());
  return width;
}

/// Cells of one stage: what stands in a column, and the sign before it.
class Row {
public:
  Row(size_t columns, size_t width)
      : cells_(columns, "."), signs_(columns, ' '), width_(width) {}

  void put(const std::string &name, int64_t begin, int64_t end) {
    std::fill(cells_.begin() + begin, cells_.begin() + end, "-");
    cells_[begin] = name;
  }
  void mark(int64_t column) { signs_[column] = '|'; }

  std::string text(const std::string &head, const std::string &end) const {
    std::string row = head;
    for (size_t column = 0; column < cells_.size(); ++column)
      row += fmt::format("{}{:<{}}", signs_[column], cells_[column], width_);
    row += end;
    row.erase(row.find_last_not_of(' ') + 1);
    return row + "\n";
  }

private:
  std::vector<std::string> cells_;
  std::string signs_;
  size_t width_;
};

Row rowOf(const Schedule &schedule, const Timing &timing, int stage,
          size_t width, int64_t unit) {
  Row row(timing.makespan / unit, width);
  for (size_t i = 0; i < timing.heads[stage]; ++i)
    row.put(toString(schedule.slots[stage][i], schedule.chunks > 1),
            timing.start[stage][i] / unit, timing.end[stage][i] / unit);
  return row;
}

std::string headOf(int stage) { return fmt::format("stage {:2} |", stage); }

std::string drawStage(const Schedule &schedule, const Timing &timing, int stage,
                      size_t width) {
  const std::vector<Slot> &line = schedule.slots[stage];
  std::string end;
  if (timing.heads[stage] < line.size())
    end = " !" + toString(line[timing.heads[stage]], schedule.chunks > 1);
  return rowOf(schedule, timing, stage, width, 1).text(headOf(stage), end);
}

/// Times above the columns, as many as there is room for.
std::string drawTimes(size_t columns, size_t width, int64_t unit) {
  std::string text = "time     |";
  for (size_t column = 0; column < columns; column += 5) {
    size_t place = headOf(0).size() + column * (width + 1) + 1;
    if (text.size() < place)
      text +=
          std::string(place - text.size(), ' ') + std::to_string(column * unit);
  }
  return text + "\n";
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

int64_t columnTime(const Schedule &schedule, const Costs &costs,
                   int64_t latency) {
  int64_t unit = latency;
  for (const std::vector<Slot> &line : schedule.slots)
    for (const Slot &slot : line)
      unit = std::gcd(unit, costs.of(slot.phase));
  return std::max<int64_t>(unit, 1);
}

std::string drawParts(const Schedule &schedule, const Costs &costs,
                      int64_t latency) {
  Timing timing = asap(schedule, costs, latency);
  size_t width = widestSlot(schedule);
  int64_t unit = columnTime(schedule, costs, latency);
  std::string text = drawTimes(timing.makespan / unit, width, unit);
  for (int stage = 0; stage < schedule.stages; ++stage) {
    Row row = rowOf(schedule, timing, stage, width, unit);
    Sections sections = sectionsOf(schedule, stage);
    for (size_t slot : {sections.steady, sections.coolDown})
      if (slot > 0 && slot < schedule.slots[stage].size())
        row.mark(timing.start[stage][slot] / unit);
    text += row.text(headOf(stage), "");
  }
  return text;
}

} // namespace mtc::schedules
