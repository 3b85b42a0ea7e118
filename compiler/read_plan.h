//===- read_plan.h - rt IR to plain values ----------------------*- C++ -*-===//
#ifndef MTC_COMPILER_READ_PLAN_H
#define MTC_COMPILER_READ_PLAN_H

#include "compiler/plan.h"
#include "runtime/base/status.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace mtc::compiler {

/// Reads mtc.config and all `rt.program` ops of a module that went through
/// plan-memory. Errors: infeasible, with all problems: no program, stages
/// that are not 0..pp-1, a program without arenas, a timeline that names a
/// fragment that is not there.
runtime::Status readPlan(mlir::ModuleOp module, BundlePlan &plan);

} // namespace mtc::compiler
#endif // MTC_COMPILER_READ_PLAN_H
