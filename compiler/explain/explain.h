//===- explain.h - why a plan is as it is, for mtc explain ------*- C++ -*-===//
//
// The file explain.json of a bundle: what the plan in IR knows and neither
// programs nor the report say. Nothing runs by it, and no plan's number depends
// on it. docs/explain.md has its fields.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_EXPLAIN_EXPLAIN_H
#define MTC_COMPILER_EXPLAIN_EXPLAIN_H

#include "compiler/plan.h"

#include <nlohmann/json.hpp>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace mtc::compiler {

/// Of each stage the collectives of a step with their reasons, and which values
/// are there when, of the entry train. `plan` was read from the module, which
/// went through plan-memory.
nlohmann::ordered_json explain(mlir::ModuleOp module, const BundlePlan &plan);

} // namespace mtc::compiler
#endif // MTC_COMPILER_EXPLAIN_EXPLAIN_H
