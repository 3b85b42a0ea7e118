//===- costs.cpp - what slots take, as people write it --------------------===//

#include "compiler/schedule/costs.h"

#include <charconv>
#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

constexpr int64_t mostCost = 1'000'000'000;

/// The member that a word begins with, or null.
int64_t *memberOf(schedules::Costs &costs, char letter) {
  switch (letter) {
  case 'F':
    return &costs.F;
  case 'B':
    return &costs.B;
  case 'I':
    return &costs.I;
  case 'W':
    return &costs.W;
  }
  return nullptr;
}

bool readWord(std::string_view word, schedules::Costs &costs) {
  int64_t *cost = word.empty() ? nullptr : memberOf(costs, word.front());
  if (!cost || word.size() < 3 || word[1] != '=')
    return false;
  const char *end = word.data() + word.size();
  auto [rest, error] = std::from_chars(word.data() + 2, end, *cost);
  return error == std::errc() && rest == end && *cost >= 1 && *cost <= mostCost;
}

} // namespace

Status readCosts(std::string_view text, schedules::Costs &costs) {
  std::string wrong, seen;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    bool isTwice = !word.empty() && seen.find(word.front()) != seen.npos;
    if (isTwice || !readWord(word, costs))
      wrong += fmt::format("{}'{}'", wrong.empty() ? "" : ", ", word);
    seen += word.substr(0, 1);
  }
  if (wrong.empty())
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("--costs: expected PHASE=TIME separated by commas, each "
                      "of F, B, I and W at most once, times from 1 to {}, "
                      "found {}",
                      mostCost, wrong)};
}

} // namespace mtc::compiler
