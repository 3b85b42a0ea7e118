//===- step_lengths.cpp - how long the samples of a step are --------------===//

#include "runtime/train/step_lengths.h"

#include "runtime/base/trimmed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace mtc::runtime {
namespace {

constexpr std::string_view kForm =
    "expected lengths like \"512:1000, 1024\" (1,000 steps of 512 tokens a "
    "sample, then the rest of 1,024)";

/// A number from 1 on.
bool readCount(std::string_view text, int64_t &out) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out >= 1;
}

bool readPart(std::string_view text, bool isLast, LengthPart &out) {
  size_t colon = text.find(':');
  if (isLast != (colon == text.npos))
    return false;
  return readCount(trimmed(text.substr(0, colon)), out.seq) &&
         (isLast || readCount(trimmed(text.substr(colon + 1)), out.steps));
}

/// What a program has entries for.
std::set<int64_t> lengthsOf(const Descriptor &program) {
  std::set<int64_t> lengths = {program.batch.seq};
  for (const EntryInfo &entry : program.entries)
    lengths.insert(program.seqOf(entry));
  return lengths;
}

} // namespace

Status StepLengths::parse(std::string_view text, StepLengths &out) {
  StepLengths lengths;
  const std::string_view whole = text;
  for (bool isLast = trimmed(text).empty(); !isLast;) {
    size_t comma = text.find(',');
    isLast = comma == text.npos;
    LengthPart part;
    if (!readPart(text.substr(0, comma), isLast, part))
      return {StatusCode::usage,
              fmt::format("seq: {}, found '{}'", kForm, whole)};
    lengths.parts_.push_back(part);
    text.remove_prefix(isLast ? text.size() : comma + 1);
  }
  out = std::move(lengths);
  return Status::okay();
}

Status StepLengths::parse(std::string_view text, const Descriptor &program,
                          StepLengths &out) {
  StepLengths lengths;
  MTC_RETURN_IF_ERROR(parse(text, lengths));
  if (lengths.parts_.empty())
    lengths.parts_.push_back({program.batch.seq});
  std::set<int64_t> known = lengthsOf(program);
  for (const LengthPart &part : lengths.parts_)
    if (!known.contains(part.seq))
      return {StatusCode::usage,
              fmt::format("seq: expected lengths that the bundle was compiled "
                          "for ({}), found {}; compile it with --seq-length "
                          "{},{}",
                          fmt::join(known, ", "), part.seq, part.seq,
                          fmt::join(known, ","))};
  out = std::move(lengths);
  return Status::okay();
}

int64_t StepLengths::of(int64_t step) const {
  for (const LengthPart &part : parts_) {
    if (step <= part.steps)
      return part.seq;
    step -= part.steps;
  }
  return parts_.back().seq;
}

} // namespace mtc::runtime
