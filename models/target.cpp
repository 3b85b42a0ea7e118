//===- target.cpp - what ranks compute with -------------------------------===//
#include "models/target.h"

#include "mtc/runtime/gpu_chips.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mtc::models {
namespace {

std::vector<std::string_view> chipNames() {
  std::vector<std::string_view> names;
  for (const GpuChip &chip : kGpuChips)
    names.push_back(chip.name);
  return names;
}

/// What is wrong with one of several names, the `index`th; empty: nothing.
std::string problemOf(const std::vector<std::string> &names, size_t index) {
  const std::string &name = names[index];
  auto before = names.begin() + static_cast<std::ptrdiff_t>(index);
  if (std::find(names.begin(), before, name) != before)
    return fmt::format("with '{}' twice", name);
  if (gpuChipNamed(name))
    return "";
  std::string near = nearestName(name, chipNames());
  return near.empty() ? fmt::format("where '{}' is no architecture", name)
                      : fmt::format("did you mean '{}' by '{}'?", near, name);
}

} // namespace

const std::vector<std::string_view> &allTargets() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all = {"cpu"};
    for (std::string_view name : chipNames())
      all.push_back(fmt::format("{}{}", kGpuTarget, name));
    return all;
  }();
  static const std::vector<std::string_view> targets(texts.begin(),
                                                     texts.end());
  return targets;
}

std::string describeTarget() {
  return fmt::format("cpu, or cuda: and names of {}, with commas between them",
                     fmt::join(chipNames(), ", "));
}

ReadText parseTarget(std::string_view text, std::string &out) {
  if (text == "cpu") {
    out = text;
    return {true, ""};
  }
  std::vector<std::string> names = gpuChipsOf(text);
  if (names.empty()) {
    std::string near = nearestName(text, allTargets());
    return {false,
            near.empty() ? "" : fmt::format(", did you mean '{}'?", near)};
  }
  ReadText result = {true, ""};
  for (size_t i = 0; i < names.size(); ++i)
    if (std::string problem = problemOf(names, i); !problem.empty())
      result = {false, result.advice + ", " + problem};
  if (!result.ok)
    return result;
  std::ranges::sort(names, {},
                    [](const std::string &name) { return gpuChipNamed(name); });
  out = fmt::format("{}{}", kGpuTarget, fmt::join(names, ","));
  return result;
}

} // namespace mtc::models
