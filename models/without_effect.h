//===- without_effect.h - choices that change nothing -----------*- C++ -*-===//
#ifndef MTC_MODELS_WITHOUT_EFFECT_H
#define MTC_MODELS_WITHOUT_EFFECT_H

#include "models/strategy.h"

#include <string>
#include <vector>

namespace mtc::models {

/// What a valid strategy says (`given`) that does nothing on its mesh, each a
/// sentence with the key, such as "zero: dp = 1, so there are no replicas that
/// could share states": legal, as one file serves many meshes, but worth
/// knowing.
std::vector<std::string> choicesWithoutEffect(const Strategy &strategy);

} // namespace mtc::models
#endif // MTC_MODELS_WITHOUT_EFFECT_H
