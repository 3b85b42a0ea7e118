//===- parameters.h - how many parameters a model has -----------*- C++ -*-===//
#ifndef MTC_MODELS_PARAMETERS_H
#define MTC_MODELS_PARAMETERS_H

#include <cstdint>

#include "models/spec.h"

namespace mtc::models {

enum class VocabCount { real, padded };

/// The number of parameters in closed form, independent of any IR, for a
/// conservation check and for reports. With `padded`, what is stored; with
/// `real`, what papers count (GPT-2 124M: 124,439,808). A tied head counts
/// once. Norms: two a layer, and one after the last layer (post-norm models:
/// one after the embedding instead).
int64_t parameterCount(const ModelSpec &spec,
                       VocabCount vocab = VocabCount::padded);

} // namespace mtc::models
#endif // MTC_MODELS_PARAMETERS_H
