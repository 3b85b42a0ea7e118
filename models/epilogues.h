//===- epilogues.h - what is done within products ---------------*- C++ -*-===//
#ifndef MTC_MODELS_EPILOGUES_H
#define MTC_MODELS_EPILOGUES_H

#include "models/nearest.h"

namespace mtc::models {

/// What a strategy may do within products. Those of a GPU, to their sums:
///   bias  add a number for each column
///   gelu  store the GELU, and what it is of where the backward needs that
/// Those of a cpu by a kernel of our own:
///   pointwise  run a kernel that computes each element by itself on blocks of
///              the result that are finished
const std::vector<std::string_view> &epilogueKinds();

/// "none or names of bias, gelu, pointwise", for messages.
std::string describeEpilogues();

/// Reads "none" or names with commas between them into `out`, in the order of
/// epilogueKinds; `out` stays as it is where the text is wrong.
ReadText parseEpilogues(std::string_view text, std::vector<std::string> &out);

/// As parseEpilogues reads it.
std::string epiloguesText(const std::vector<std::string> &epilogues);

/// Whether products of `target`, "cpu" or GPUs, may have one.
bool isEpilogueOf(std::string_view target, std::string_view kind);

} // namespace mtc::models
#endif // MTC_MODELS_EPILOGUES_H
