//===- validate_stages.h - does each layer have a stage ---------*- C++ -*-===//
#ifndef MTC_MODELS_VALIDATE_STAGES_H
#define MTC_MODELS_VALIDATE_STAGES_H

#include <cstdint>
#include <vector>

#include "models/validate.h"

namespace mtc::models {

/// Adds what is wrong with numbers of stages, and of layers of a stage: none is
/// without a layer but the first and the last, and all layers have one.
void checkStages(const ModelSpec &spec, const Strategy &strategy,
                 std::vector<Violation> &out);

/// Layers of the stage that has most: virtual stages go round the stages.
int64_t mostLayers(const ModelSpec &spec, const Strategy &strategy);

} // namespace mtc::models
#endif // MTC_MODELS_VALIDATE_STAGES_H
