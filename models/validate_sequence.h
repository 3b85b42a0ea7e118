//===- validate_sequence.h - may samples be split so ------------*- C++ -*-===//
#ifndef MTC_MODELS_VALIDATE_SEQUENCE_H
#define MTC_MODELS_VALIDATE_SEQUENCE_H

#include <vector>

#include "models/validate.h"

namespace mtc::models {

/// Adds what is wrong with lengths of samples: beyond that of the model, or
/// without equal parts for the ranks along cp and, where these split the
/// sequence, along tp.
void checkSequence(const ModelSpec &spec, const Strategy &strategy,
                   std::vector<Violation> &out);

} // namespace mtc::models
#endif // MTC_MODELS_VALIDATE_SEQUENCE_H
