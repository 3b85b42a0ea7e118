//===- update_fields.h - how some parameters are updated --------*- C++ -*-===//
//
// Keys of [[override]] for the optimizer; overrideFields() is what others call.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_MODELS_UPDATE_FIELDS_H
#define MTC_MODELS_UPDATE_FIELDS_H

#include "models/fields.h"
#include "models/strategy.h"

namespace mtc::models {

/// The name of a group, which recipes can write.
Field<ShardOverride> groupField();

/// Whether weight decay applies.
Field<ShardOverride> decayField();

} // namespace mtc::models
#endif // MTC_MODELS_UPDATE_FIELDS_H
