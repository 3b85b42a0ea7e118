//===- target.h - what ranks compute with -----------------------*- C++ -*-===//
#ifndef MTC_MODELS_TARGET_H
#define MTC_MODELS_TARGET_H

#include "models/nearest.h"

namespace mtc::models {

/// The targets of one kind: "cpu", "cuda:sm_80" and so on.
const std::vector<std::string_view> &allTargets();

/// What `target` may be, for messages.
std::string describeTarget();

/// Reads "cpu", or "cuda:" and architectures with commas between them, into
/// `out`, oldest first; `out` stays as it is where the text is wrong, and the
/// advice names all that is.
ReadText parseTarget(std::string_view text, std::string &out);

} // namespace mtc::models
#endif // MTC_MODELS_TARGET_H
