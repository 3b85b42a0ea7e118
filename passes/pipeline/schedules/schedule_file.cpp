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

/// The lines of slots, and where in the text they are.
struct Lines {
  std::vector<std::vector<Slot>> slots;
  std::vector<int> numbers; ///< of the lines, from 1

  int longest() const {
    size_t most = 0;
    for (const std::vector<Slot> &line : slots)
      most = std::max(most, line.size());
    return static_cast<int>(most);
  }
  /// One more than the highest `number` of any slot.
  int count(const Number &number) const {
    int most = 0;
    for (const std::vector<Slot> &line : slots)
      for (const Slot &slot : line)
        most = std::max(most, slot.*number.member);
    return most + 1;
  }
};

Lines readLines(std::string_view text, Findings &findings) {
  Lines lines;
  int number = 0;
  while (auto line = takeStageLine(text, number)) {
    std::string where =
        fmt::format("line {}: stage {}", number, lines.slots.size());
    lines.slots.push_back(readSlots(*line, where, findings));
    lines.numbers.push_back(number);
  }
  return lines;
}

void checkLineCount(const Lines &lines, std::optional<int> stages,
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
/// check can walk.
void checkRoom(const Lines &lines, const Number &number, Findings &findings) {
  int count = number.given.value_or(lines.longest());
  const char *why = number.given ? "" : ", as no line has more slots";
  for (size_t stage = 0; stage < lines.slots.size(); ++stage)
    for (size_t i = 0; i < lines.slots[stage].size(); ++i) {
      const Slot &slot = lines.slots[stage][i];
      if (slot.*number.member >= count)
        findings.push_back(
            {"range", fmt::format("line {}: stage {} slot {}: {}: expected a "
                                  "{} of 0 to {}{}",
                                  lines.numbers[stage], stage, i,
                                  toString(slot, slot.chunk > 0), number.name,
                                  count - 1, why)});
    }
}

void checkProduct(const Lines &lines, const Shape &shape, Findings &findings) {
  int longest = lines.longest();
  int64_t forwards = int64_t(shape.microbatches) * shape.chunks;
  if (forwards > longest)
    findings.push_back(
        {"range", fmt::format("line {}: expected at least {} slots on each "
                              "stage (microbatches {}, "
                              "chunks {}), found at most {}",
                              lines.numbers.front(), forwards,
                              shape.microbatches, shape.chunks, longest)});
}

} // namespace

std::optional<Schedule> readScheduleText(std::string_view text,
                                         Findings &findings,
                                         const GivenSizes &given) {
  Findings found;
  Lines lines = readLines(text, found);
  Number microbatch{"microbatch", &Slot::microbatch, given.microbatches};
  Number chunk{"chunk", &Slot::chunk, given.chunks};
  Shape shape;
  if (found.empty())
    checkLineCount(lines, given.stages, found);
  if (found.empty()) {
    checkRoom(lines, microbatch, found);
    checkRoom(lines, chunk, found);
  }
  if (found.empty()) {
    shape.stages = static_cast<int>(lines.slots.size());
    shape.microbatches = microbatch.given.value_or(lines.count(microbatch));
    shape.chunks = chunk.given.value_or(lines.count(chunk));
    checkProduct(lines, shape, found);
  }
  findings.insert(findings.end(), found.begin(), found.end());
  if (!found.empty())
    return std::nullopt;
  return Schedule{shape, "", 0, std::move(lines.slots)};
}

} // namespace mtc::schedules
