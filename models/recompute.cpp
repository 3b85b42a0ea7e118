//===- recompute.cpp - what the backward computes again -------------------===//
#include "models/recompute.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/limits.h"
#include "models/nearest.h"

namespace mtc::models {

using Policy = Recompute::Policy;

/// Those that a name alone says.
static constexpr Policy kNamed[] = {Policy::none, Policy::selective,
                                    Policy::full, Policy::fit};

const std::vector<std::string_view> &recomputeFamilies() {
  static const std::vector<std::string_view> families = {
      "attention", "dropout", "einsum", "norm", "pointwise"};
  return families;
}

std::string describeRecompute() {
  return fmt::format("one of none, selective, full, fit, layers=N with N in "
                     "[1, {}], microbatches=N with N in [1, {}], "
                     "ops=FAMILY,... of {}",
                     kMostLayers, kMostMicrobatches,
                     fmt::join(recomputeFamilies(), ", "));
}

static bool parseCount(std::string_view text, int64_t most, int64_t &out) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out >= 1 &&
         out <= most;
}

static std::string adviceFor(std::string_view text) {
  std::string near = nearestName(text, {"none", "selective", "full", "fit",
                                        "layers=1", "microbatches=1", "ops="});
  return near.empty() ? "" : fmt::format(", did you mean '{}'?", near);
}

ReadText parseRecompute(std::string_view text, Recompute &out) {
  Recompute found;
  auto named =
      std::find_if(std::begin(kNamed), std::end(kNamed), [&](Policy policy) {
        return toString({policy, 0, {}}) == text;
      });
  if (named != std::end(kNamed)) {
    found.policy = *named;
  } else if (text.starts_with("layers=")) {
    found.policy = Policy::layers;
    if (!parseCount(text.substr(7), kMostLayers, found.layers))
      return {false, ""};
  } else if (text.starts_with("microbatches=")) {
    found.policy = Policy::microbatches;
    if (!parseCount(text.substr(13), kMostMicrobatches, found.microbatches))
      return {false, ""};
  } else if (text.starts_with("ops=")) {
    found.policy = Policy::ops;
    NameList list =
        parseNames(text.substr(4), recomputeFamilies(), "no family");
    if (!list.wrong.empty())
      return {false, list.wrong};
    found.families = std::move(list.names);
    std::sort(found.families.begin(), found.families.end());
  } else {
    return {false, adviceFor(text)};
  }
  out = found;
  return {true, ""};
}

std::vector<Recompute> recomputeLadder(int64_t layers) {
  std::vector<Recompute> ladder = {{Policy::none, 0, {}},
                                   {Policy::selective, 0, {}}};
  for (int64_t count = 1; count < layers; ++count)
    ladder.push_back({Policy::layers, count, {}});
  ladder.push_back({Policy::full, 0, {}});
  return ladder;
}

std::string toString(const Recompute &recompute) {
  switch (recompute.policy) {
  case Policy::none:
    return "none";
  case Policy::selective:
    return "selective";
  case Policy::full:
    return "full";
  case Policy::layers:
    return fmt::format("layers={}", recompute.layers);
  case Policy::microbatches:
    return fmt::format("microbatches={}", recompute.microbatches);
  case Policy::ops:
    return fmt::format("ops={}", fmt::join(recompute.families, ","));
  case Policy::fit:
    return "fit";
  }
  return "none";
}

} // namespace mtc::models
