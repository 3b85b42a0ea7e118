//===- schedule_file.cpp - schedules that people write --------------------===//

#include "passes/pipeline/schedules/schedule_file.h"

#include <algorithm>
#include <fmt/format.h>

namespace mtc::schedules {
namespace {

/// One of the two numbers of a slot, and how many of it there may be.
struct Number {
  const char *name;
  int Slot::*member;
  std::optional<int> given;
};

/// One more than the highest `number` of any slot.
int countOf(const ScheduleLines &lines, const Number &number) {
  int most = 0;
  for (const std::vector<Slot> &line : lines.slots)
    for (const Slot &slot : line)
      most = std::max(most, slot.*number.member);
  return most + 1;
}

void checkLineCount(const ScheduleLines &lines, std::optional<int> stages,
                    Findings &findings) {
  int found = static_cast<int>(lines.slots.size());
  if (found == 0)
    findings.push_back({"timeline-count",
                        "line 1: expected one line of slots per stage, such "
                        "as F0 F1 B0 B1, found none"});
  else if (stages && found != *stages)
    findings.push_back(
        {"timeline-count",
         fmt::format("line {}: expected {} lines of slots, one per stage, "
                     "found {}",
                     lines.numbers.back(), *stages, found)});
}

/// A number above all that the lines have room for would make sizes that no
/// check can walk. One finding a line: a file of another size has millions.
void checkRoom(const ScheduleLines &lines, const Number &number,
               Findings &findings) {
  int count = number.given.value_or(lines.longest());
  const char *why = number.given ? "" : ", as no line has more slots";
  auto isAbove = [&](const Slot &slot) { return slot.*number.member >= count; };
  for (size_t stage = 0; stage < lines.slots.size(); ++stage) {
    const std::vector<Slot> &line = lines.slots[stage];
    auto first = std::find_if(line.begin(), line.end(), isAbove);
    if (first == line.end())
      continue;
    auto all = std::count_if(first, line.end(), isAbove);
    findings.push_back(
        {"range",
         fmt::format(
             "line {}: stage {} slot {}: {}: expected a {} of 0 to "
             "{}{}{}",
             lines.numbers[stage], stage, first - line.begin(),
             toString(*first, first->chunk > 0), number.name, count - 1, why,
             all == 1 ? ""
                      : fmt::format(" ({} such slots in the line)", all))});
  }
}

bool trains(const ScheduleLines &lines) {
  for (const std::vector<Slot> &line : lines.slots)
    for (const Slot &slot : line)
      if (slot.phase != Phase::F)
        return true;
  return false;
}

void checkProduct(const ScheduleLines &lines, const Shape &shape,
                  Findings &findings) {
  int longest = lines.longest();
  bool both = trains(lines);
  int64_t slots = int64_t(shape.microbatches) * shape.chunks * (both ? 2 : 1);
  if (slots > longest)
    findings.push_back(
        {"range", fmt::format("line {}: expected at least {} slots on each "
                              "stage (microbatches {}, chunks {}{}), found at "
                              "most {}",
                              lines.numbers.front(), slots, shape.microbatches,
                              shape.chunks,
                              both ? ", forward and backward" : "", longest)});
}

} // namespace

int ScheduleLines::longest() const {
  size_t most = 0;
  for (const std::vector<Slot> &line : slots)
    most = std::max(most, line.size());
  return static_cast<int>(most);
}

ScheduleLines readScheduleLines(std::string_view text, Findings &findings) {
  ScheduleLines lines;
  int number = 0;
  while (auto line = takeStageLine(text, number)) {
    std::string where =
        fmt::format("line {}: stage {}", number, lines.slots.size());
    lines.slots.push_back(readSlots(*line, where, findings));
    lines.numbers.push_back(number);
  }
  return lines;
}

std::optional<Schedule> scheduleOf(const ScheduleLines &lines,
                                   Findings &findings,
                                   const GivenSizes &given) {
  Findings found;
  Number microbatch{"microbatch", &Slot::microbatch, given.microbatches};
  Number chunk{"chunk", &Slot::chunk, given.chunks};
  Shape shape;
  checkLineCount(lines, given.stages, found);
  if (found.empty()) {
    checkRoom(lines, microbatch, found);
    checkRoom(lines, chunk, found);
  }
  if (found.empty()) {
    shape.stages = static_cast<int>(lines.slots.size());
    shape.microbatches = microbatch.given.value_or(countOf(lines, microbatch));
    shape.chunks = chunk.given.value_or(countOf(lines, chunk));
    checkProduct(lines, shape, found);
  }
  findings.insert(findings.end(), found.begin(), found.end());
  if (!found.empty())
    return std::nullopt;
  return Schedule{shape, "", 0, lines.slots};
}

std::optional<Schedule> readScheduleText(std::string_view text,
                                         Findings &findings,
                                         const GivenSizes &given) {
  Findings found;
  ScheduleLines lines = readScheduleLines(text, found);
  if (found.empty())
    return scheduleOf(lines, findings, given);
  findings.insert(findings.end(), found.begin(), found.end());
  return std::nullopt;
}

} // namespace mtc::schedules
