//===- epilogues.cpp - what products do before they round -----------------===//
#include "models/epilogues.h"

namespace mtc::models {

const std::vector<std::string_view> &epilogueKinds() {
  static const std::vector<std::string_view> kinds = {"bias", "gelu"};
  return kinds;
}

std::string describeEpilogues() { return describeSome(epilogueKinds()); }

ReadText parseEpilogues(std::string_view text, std::vector<std::string> &out) {
  return parseSome(text, epilogueKinds(), "no epilogue", out);
}

std::string epiloguesText(const std::vector<std::string> &epilogues) {
  return textOfSome(epilogues);
}

} // namespace mtc::models
