//===- model_cost.h - what parts of a model compute -------------*- C++ -*-===//
#ifndef MTC_COMPILER_MODEL_COST_H
#define MTC_COMPILER_MODEL_COST_H

#include "models/recompute.h"
#include "models/stages.h"

#include "mlir/IR/BuiltinOps.h"

namespace mtc::compiler {

/// Floating-point operations of an imported model's contractions and attention
/// in forward and backward of one microbatch of all replicas, by layer. What
/// the backward computes again counts again, where the policy says so of whole
/// layers or of ops; that of the first layers of each stage (layers=N) or of
/// some microbatches does not, as nobody knows yet which they are.
models::ModelCost costOf(mlir::ModuleOp module,
                         const models::Recompute &recompute, int64_t layers);

} // namespace mtc::compiler
#endif // MTC_COMPILER_MODEL_COST_H
