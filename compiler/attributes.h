//===- attributes.h - MLIR attributes as plain values -----------*- C++ -*-===//
#ifndef MTC_COMPILER_ATTRIBUTES_H
#define MTC_COMPILER_ATTRIBUTES_H

#include "mlir/IR/BuiltinAttributes.h"

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace mtc::compiler {

/// The value of an integer or boolean attribute (true is 1); `otherwise` if it
/// is neither or null.
int64_t integerOf(mlir::Attribute attribute, int64_t otherwise = 0);

/// The value of a string attribute, or "".
std::string textOf(mlir::Attribute attribute);

/// The values of `array<i64: ...>` or of an array of integers; empty otherwise.
std::vector<int64_t> integersOf(mlir::Attribute attribute);

/// Numbers, booleans, strings, arrays and dictionaries as JSON; anything else
/// as its text.
nlohmann::ordered_json jsonOf(mlir::Attribute attribute);

} // namespace mtc::compiler
#endif // MTC_COMPILER_ATTRIBUTES_H
