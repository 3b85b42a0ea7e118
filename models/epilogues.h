//===- epilogues.h - what products do before they round ---------*- C++ -*-===//
#ifndef MTC_MODELS_EPILOGUES_H
#define MTC_MODELS_EPILOGUES_H

#include "models/nearest.h"

namespace mtc::models {

/// What a strategy may let products of a GPU do to their sums:
///   bias  add a number for each column
///   gelu  store the GELU, and what it is of where the backward needs that
const std::vector<std::string_view> &epilogueKinds();

/// "none or names of bias, gelu", for messages.
std::string describeEpilogues();

/// Reads "none" or names with commas between them into `out`, in the order of
/// epilogueKinds; `out` stays as it is where the text is wrong.
ReadText parseEpilogues(std::string_view text, std::vector<std::string> &out);

/// As parseEpilogues reads it.
std::string epiloguesText(const std::vector<std::string> &epilogues);

} // namespace mtc::models
#endif // MTC_MODELS_EPILOGUES_H
