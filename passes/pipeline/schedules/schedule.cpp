//===- schedule.cpp - slots of a pipeline, as data ------------------------===//

#include "passes/pipeline/schedules/schedule.h"

#include <array>
#include <charconv>
#include <fmt/format.h>

namespace mtc::schedules {
namespace {

std::optional<Phase> phaseOf(char c) {
  switch (c) {
  case 'F':
    return Phase::F;
  case 'B':
    return Phase::B;
  case 'I':
    return Phase::I;
  case 'W':
    return Phase::W;
  }
  return std::nullopt;
}

/// Takes an unsigned decimal number off the front of `text`.
std::optional<int> takeNumber(std::string_view &text) {
  int value = 0;
  if (text.empty() || text.front() == '-')
    return std::nullopt;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc())
    return std::nullopt;
  text.remove_prefix(end - text.data());
  return value;
}

/// Takes the text up to the next `separator` off the front of `text`.
std::string_view takeUntil(std::string_view &text, char separator) {
  size_t end = std::min(text.find(separator), text.size());
  std::string_view head = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return head;
}

} // namespace

char letter(Phase phase) { return "FBIW"[static_cast<int>(phase)]; }

int Shape::stageOf(int u) const {
  int offset = u % stages;
  bool turned = placement == Placement::Folded && chunkOf(u) % 2 == 1;
  return turned ? stages - 1 - offset : offset;
}

int Shape::virtualStage(int stage, int chunk) const {
  bool turned = placement == Placement::Folded && chunk % 2 == 1;
  return chunk * stages + (turned ? stages - 1 - stage : stage);
}

bool Shape::contains(const Slot &slot) const {
  return slot.microbatch >= 0 && slot.microbatch < microbatches &&
         slot.chunk >= 0 && slot.chunk < chunks;
}

bool Schedule::trains() const {
  for (const std::vector<Slot> &line : slots)
    for (const Slot &slot : line)
      if (slot.phase != Phase::F)
        return true;
  return false;
}

std::string toString(const Slot &slot, bool withChunk) {
  std::string text = fmt::format("{}{}", letter(slot.phase), slot.microbatch);
  return withChunk ? fmt::format("{}.{}", text, slot.chunk) : text;
}

std::string printSlots(const std::vector<Slot> &slots, int chunks) {
  std::string text;
  for (const Slot &slot : slots) {
    text += text.empty() ? "" : " ";
    text += toString(slot, chunks > 1);
  }
  return text;
}

std::string printSchedule(const Schedule &schedule) {
  std::string text;
  for (const std::vector<Slot> &line : schedule.slots)
    text += printSlots(line, schedule.chunks) + "\n";
  return text;
}

std::optional<Slot> parseSlot(std::string_view text) {
  if (text.empty())
    return std::nullopt;
  std::optional<Phase> phase = phaseOf(text.front());
  text.remove_prefix(1);
  std::optional<int> microbatch = takeNumber(text);
  if (!phase || !microbatch)
    return std::nullopt;
  if (text.empty())
    return Slot{*phase, *microbatch, 0};
  if (text.front() != '.')
    return std::nullopt;
  text.remove_prefix(1);
  std::optional<int> chunk = takeNumber(text);
  if (!chunk || !text.empty())
    return std::nullopt;
  return Slot{*phase, *microbatch, *chunk};
}

std::vector<Slot> readSlots(std::string_view line, const std::string &where,
                            Findings &findings) {
  // Of what is no text at all, the beginning is enough.
  constexpr size_t shown = 40;
  struct Unread {
    Finding first;
    int64_t count = 0;
  };
  std::array<Unread, 2> unread; ///< by whether the phase is known
  std::vector<Slot> slots;
  line = line.substr(0, line.find('#'));
  for (size_t begin; (begin = line.find_first_not_of(" \t\r")) != line.npos;) {
    line.remove_prefix(begin);
    std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
    line.remove_prefix(word.size());
    if (std::optional<Slot> slot = parseSlot(word)) {
      slots.push_back(*slot);
      continue;
    }
    bool known = phaseOf(word.front()).has_value();
    Unread &of = unread[known];
    if (of.count++ == 0)
      of.first = {known ? "syntax" : "phase",
                  fmt::format("{} slot {}: found '{}', expected a phase of F, "
                              "B, I, W, a microbatch, and optionally . and a "
                              "chunk, like F3 or F3.1",
                              where, slots.size(), word.substr(0, shown))};
  }
  for (Unread &of : unread) {
    if (of.count > 1)
      of.first.message += fmt::format(" ({} such words in the line)", of.count);
    if (of.count > 0)
      findings.push_back(std::move(of.first));
  }
  return slots;
}

std::optional<std::string_view> takeStageLine(std::string_view &text,
                                              int &number) {
  while (!text.empty()) {
    std::string_view line = takeUntil(text, '\n');
    ++number;
    size_t first = line.find_first_not_of(" \t\r");
    if (first != line.npos && line[first] != '#')
      return line;
  }
  return std::nullopt;
}

Schedule parseSchedule(std::string_view text, const Shape &shape,
                       Findings &findings) {
  Schedule schedule{shape, "", 0, {}};
  int number = 0;
  while (auto line = takeStageLine(text, number)) {
    std::string where = fmt::format("stage {}", schedule.slots.size());
    schedule.slots.push_back(readSlots(*line, where, findings));
  }
  return schedule;
}

} // namespace mtc::schedules
