//===- mesh_fields.h - keys of the mesh of ranks ----------------*- C++ -*-===//
#ifndef MTC_MODELS_MESH_FIELDS_H
#define MTC_MODELS_MESH_FIELDS_H

#include "models/fields.h"
#include "models/strategy.h"

#include <vector>

namespace mtc::models {

/// The extent of each axis, the order of ranks, and ranks of a host.
std::vector<Field<Strategy>> meshFields();

} // namespace mtc::models
#endif // MTC_MODELS_MESH_FIELDS_H
