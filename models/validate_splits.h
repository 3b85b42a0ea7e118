//===- validate_splits.h - may these axes split these sizes -----*- C++ -*-===//
#ifndef MTC_MODELS_VALIDATE_SPLITS_H
#define MTC_MODELS_VALIDATE_SPLITS_H

#include <vector>

#include "models/validate.h"

namespace mtc::models {

/// Adds what is wrong with what `[shard]` and overrides split: sizes that an
/// axis of the mesh does not divide, and heads over replicas where their
/// samples have several documents and stages have chunks.
void checkSplits(const ModelSpec &spec, const Strategy &strategy,
                 std::vector<Violation> &out);

} // namespace mtc::models
#endif // MTC_MODELS_VALIDATE_SPLITS_H
