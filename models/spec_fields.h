//===- spec_fields.h - every key of a spec ----------------------*- C++ -*-===//
#ifndef MTC_MODELS_SPEC_FIELDS_H
#define MTC_MODELS_SPEC_FIELDS_H

#include "models/fields.h"
#include "models/spec.h"

namespace mtc::models {

/// In the order of messages and pages; the keys of a table follow each other.
/// What a key must be beside its type is checked by parseModelSpec.
const std::vector<Field<ModelSpec>> &specFields();

} // namespace mtc::models
#endif // MTC_MODELS_SPEC_FIELDS_H
