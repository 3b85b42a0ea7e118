//===- overlap.cpp - what runs beside computations ------------------------===//
#include "models/overlap.h"

namespace mtc::models {

const std::vector<std::string_view> &overlapKinds() {
  static const std::vector<std::string_view> kinds = {"p2p", "grad-reduce",
                                                      "param-gather"};
  return kinds;
}

std::string describeOverlap() { return describeSome(overlapKinds()); }

ReadText parseOverlap(std::string_view text, std::vector<std::string> &out) {
  return parseSome(text, overlapKinds(), "nothing that overlaps", out);
}

std::string overlapText(const std::vector<std::string> &overlap) {
  return textOfSome(overlap);
}

} // namespace mtc::models
