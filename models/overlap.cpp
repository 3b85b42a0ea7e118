//===- overlap.cpp - what runs beside computations ------------------------===//
#include "models/overlap.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/nearest.h"

namespace mtc::models {

const std::vector<std::string_view> &overlapKinds() {
  static const std::vector<std::string_view> kinds = {"p2p", "grad-reduce",
                                                      "param-gather"};
  return kinds;
}

std::string describeOverlap() {
  return fmt::format("none or names of {}, with commas between them",
                     fmt::join(overlapKinds(), ", "));
}

ReadText parseOverlap(std::string_view text, std::vector<std::string> &out) {
  NameList list = parseNames(text, overlapKinds(), "nothing that overlaps");
  if (text != "none" && !list.wrong.empty())
    return {false, list.wrong};
  out.clear();
  for (std::string_view kind : overlapKinds())
    if (text != "none" && std::find(list.names.begin(), list.names.end(),
                                    kind) != list.names.end())
      out.emplace_back(kind);
  return {true, ""};
}

std::string overlapText(const std::vector<std::string> &overlap) {
  return overlap.empty() ? "none" : fmt::format("{}", fmt::join(overlap, ","));
}

} // namespace mtc::models
