//===- show_text.cpp - a schedule for people ------------------------------===//

#include "compiler/schedule/show.h"
#include "passes/pipeline/schedules/draw.h"

#include <array>
#include <fmt/format.h>

namespace mtc::compiler {
namespace {

using SlotPhase = schedules::Phase;

constexpr int64_t mostCells = 200'000; ///< of a drawing in text

/// "5 F, 5 B" of the slots [begin, end).
std::string countsOf(const std::vector<schedules::Slot> &line, size_t begin,
                     size_t end) {
  std::array<int, 4> counts{};
  for (size_t i = begin; i < end; ++i)
    ++counts[static_cast<int>(line[i].phase)];
  std::string text;
  for (SlotPhase phase :
       {SlotPhase::F, SlotPhase::B, SlotPhase::I, SlotPhase::W})
    if (int count = counts[static_cast<int>(phase)])
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count,
                          schedules::letter(phase));
  return text.empty() ? "-" : text;
}

std::string drawing(const RequestedSchedule &r,
                    const schedules::Figures &figures) {
  int64_t unit = schedules::columnTime(r.schedule, r.costs, r.latency);
  int64_t columns = figures.makespan / unit;
  if (columns > mostCells / r.schedule.stages)
    return fmt::format("not drawn: {} columns on {} stages, text has at most "
                       "{} cells\n",
                       columns, r.schedule.stages, mostCells);
  std::string text = schedules::drawParts(r.schedule, r.costs, r.latency);
  text += "- a slot goes on  . idle  | begin of steady state and of cool-down";
  return text + (unit > 1 ? fmt::format("  a column is {}", unit) : "") + "\n";
}

std::string stageTable(const RequestedSchedule &r,
                       const schedules::Figures &figures) {
  constexpr const char *row =
      "{:>5}  {:<14} {:<14} {:<14} {:>9} {:>11} {:>9}\n";
  std::string text =
      fmt::format(fmt::runtime(row), "stage", "warm-up", "steady state",
                  "cool-down", "in flight", "closed form", "W waiting");
  for (int stage = 0; stage < r.schedule.stages; ++stage) {
    const std::vector<schedules::Slot> &line = r.schedule.slots[stage];
    const schedules::StageFigures &f = figures.stages[stage];
    auto [steady, coolDown] = f.sections;
    text += fmt::format(
        fmt::runtime(row), stage, countsOf(line, 0, steady),
        countsOf(line, steady, coolDown), countsOf(line, coolDown, line.size()),
        f.inFlight, f.inFlightForm ? std::to_string(*f.inFlightForm) : "none",
        f.waiting);
  }
  return text;
}

std::string closedForm(const schedules::Figures &figures) {
  if (!figures.generator)
    return "none, a schedule of a file has no formula";
  if (!figures.generator->bubble)
    return fmt::format("none is known for {}", figures.generator->name);
  if (!figures.bubbleForm)
    return "none for these sizes";
  std::string text =
      fmt::format("bubble {} without latency", *figures.bubbleForm);
  if (figures.latencyForm)
    text += fmt::format(", {} more for each unit of a small one",
                        *figures.latencyForm);
  return text;
}

/// The phases that it has, and what they take.
std::string costsOf(const RequestedSchedule &r) {
  std::string text;
  for (SlotPhase phase :
       {SlotPhase::F, SlotPhase::B, SlotPhase::I, SlotPhase::W}) {
    bool has = false;
    for (const std::vector<schedules::Slot> &line : r.schedule.slots)
      for (const schedules::Slot &slot : line)
        has |= slot.phase == phase;
    if (has)
      text +=
          fmt::format("{} {}, ", schedules::letter(phase), r.costs.of(phase));
  }
  return fmt::format("{}latency {}", text, r.latency);
}

} // namespace

std::string titleOf(const RequestedSchedule &r) {
  const schedules::Schedule &s = r.schedule;
  std::string text =
      fmt::format("{}: {} stages, {} microbatches",
                  s.name.empty() ? std::string("user schedule") : s.name,
                  s.stages, s.microbatches);
  if (s.chunks > 1)
    text += fmt::format(", {} chunks", s.chunks);
  if (s.group > 0)
    text += fmt::format(" in groups of {}", s.group);
  return text;
}

std::string showText(const RequestedSchedule &r,
                     const schedules::Figures &figures) {
  std::string text = fmt::format(
      "{}\ntimes: {}\n\n{}\n{}\nmakespan     {}\nbubble       {} ({:.1f} %)\n"
      "closed form  {}\n",
      titleOf(r), costsOf(r), drawing(r, figures), stageTable(r, figures),
      figures.makespan, figures.bubble, 100 * figures.bubbleFraction(),
      closedForm(figures));
  for (const std::string &note : r.notes)
    text += "note: " + note + "\n";
  return text;
}

} // namespace mtc::compiler
