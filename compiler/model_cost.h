//===- model_cost.h - what parts of a model compute -------------*- C++ -*-===//
#ifndef MTC_COMPILER_MODEL_COST_H
#define MTC_COMPILER_MODEL_COST_H

#include "compiler/run_phase.h"
#include "models/spec.h"
#include "models/stages.h"

#include "mlir/IR/BuiltinOps.h"

namespace mtc::compiler {

/// Floating-point operations of an imported model's products and attention in
/// forward and backward of one microbatch of all replicas, by layer. They are
/// counted in a copy that the phases differentiate and plan-recompute ran on,
/// so what the backward computes again counts again, where the policy says so
/// of whole layers or of ops; that of the first layers of each stage (layers=N)
/// or of some microbatches does not, as nobody knows yet which they are. `log`
/// is that of the module's context. Errors: internal, of a phase.
runtime::Status costOf(mlir::ModuleOp module, const models::ModelSpec &spec,
                       const models::Strategy &strategy, DiagnosticLog &log,
                       models::ModelCost &cost);

} // namespace mtc::compiler
#endif // MTC_COMPILER_MODEL_COST_H
