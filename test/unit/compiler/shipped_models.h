//===- shipped_models.h - plans of every model that mtc comes with -*- C++ -*-//
#ifndef MTC_TEST_UNIT_COMPILER_SHIPPED_MODELS_H
#define MTC_TEST_UNIT_COMPILER_SHIPPED_MODELS_H

#include "compiler/run_phase.h"
#include "models/strategy.h"

#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace mtc::compiler::test {

using Strategy = std::vector<models::StrategyOption>;

/// Their names, in order.
std::vector<std::string> shippedModels();

/// The plan of a model for GPUs up to plan-memory, in `context`, of which `log`
/// is. Larger models are cut to two layers, which have every call and every
/// kernel of the others. Errors: those of compile and parseModule.
runtime::Status planOf(const std::string &model, const Strategy &strategy,
                       mlir::MLIRContext &context, DiagnosticLog &log,
                       mlir::OwningOpRef<mlir::ModuleOp> &out);

} // namespace mtc::compiler::test
#endif // MTC_TEST_UNIT_COMPILER_SHIPPED_MODELS_H
