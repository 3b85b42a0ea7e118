//===- source_json.h - tells ranks where samples come from ------*- C++ -*-===//
#ifndef MTC_RUNTIME_DATA_SOURCE_JSON_H
#define MTC_RUNTIME_DATA_SOURCE_JSON_H

#include "runtime/base/json.h"
#include "runtime/data/sources.h"

namespace mtc::runtime {

/// File names are as they are: UTF-8 or not.
Json toJson(const SourceFiles &files);
/// What is missing or of another type is a problem of the reader's.
SourceFiles sourceFromJson(FieldReader reader);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_SOURCE_JSON_H
