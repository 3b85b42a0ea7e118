//===- epilogues.cpp - what is done within products -----------------------===//
#include "models/epilogues.h"

namespace mtc::models {

const std::vector<std::string_view> &epilogueKinds() {
  static const std::vector<std::string_view> kinds = {"bias", "gelu",
                                                      "pointwise"};
  return kinds;
}

std::string describeEpilogues() { return describeSome(epilogueKinds()); }

ReadText parseEpilogues(std::string_view text, std::vector<std::string> &out) {
  return parseSome(text, epilogueKinds(), "no epilogue", out);
}

std::string epiloguesText(const std::vector<std::string> &epilogues) {
  return textOfSome(epilogues);
}

bool isEpilogueOf(std::string_view target, std::string_view kind) {
  return (kind == "pointwise") == (target == "cpu");
}

} // namespace mtc::models
