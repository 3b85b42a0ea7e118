//===- document_fields.h - what documents are to a model --------*- C++ -*-===//
#ifndef MTC_MODELS_DOCUMENT_FIELDS_H
#define MTC_MODELS_DOCUMENT_FIELDS_H

#include "models/fields.h"
#include "models/strategy.h"

#include <vector>

namespace mtc::models {

/// Keys of a strategy: they change what is trained, not how it is spread.
std::vector<Field<Strategy>> documentFields();

} // namespace mtc::models
#endif // MTC_MODELS_DOCUMENT_FIELDS_H
