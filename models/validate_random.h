//===- validate_random.h - numbers of random words --------------*- C++ -*-===//
#ifndef MTC_MODELS_VALIDATE_RANDOM_H
#define MTC_MODELS_VALIDATE_RANDOM_H

#include <vector>

#include "models/validate.h"

namespace mtc::models {

/// Adds what is wrong with the length of samples where elements are dropped:
/// each element of a sample has a random word of its own (docs/numerics.md),
/// whose number has 32 bits in generated kernels and 42 in attention.
void checkRandomWords(const ModelSpec &spec, const Strategy &strategy,
                      std::vector<Violation> &out);

} // namespace mtc::models
#endif // MTC_MODELS_VALIDATE_RANDOM_H
