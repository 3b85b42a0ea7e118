//===- overlap.h - what runs beside computations ----------------*- C++ -*-===//
#ifndef MTC_MODELS_OVERLAP_H
#define MTC_MODELS_OVERLAP_H

#include "models/nearest.h"

namespace mtc::models {

/// What a strategy may let run beside computations:
///   p2p  transfers between stages are posted when their value is made, and
///        waited for when it is needed
///   grad-reduce  gradients of a bucket are summed over ranks behind its last
///        one, in the backward of the last microbatch
///   param-gather  parameters of a bucket are gathered before their first
///        reader, in the forward of the first microbatch (ZeRO)
const std::vector<std::string_view> &overlapKinds();

/// "none or names of p2p, grad-reduce, param-gather", for messages.
std::string describeOverlap();

/// Reads "none" or names with commas between them into `out`, in the order of
/// overlapKinds; `out` stays as it is where the text is wrong.
ReadText parseOverlap(std::string_view text, std::vector<std::string> &out);

/// As parseOverlap reads it.
std::string overlapText(const std::vector<std::string> &overlap);

} // namespace mtc::models
#endif // MTC_MODELS_OVERLAP_H
