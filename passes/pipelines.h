//===- pipelines.h - phases as pass pipelines -------------------*- C++ -*-===//
#ifndef MTC_PASSES_PIPELINES_H
#define MTC_PASSES_PIPELINES_H

#include "passes/phases.h"

#include "mlir/Pass/PassManager.h"

#include <string>

namespace mtc::passes {

/// Adds the pass of a phase; `options` is what stands in braces after its flag,
/// or empty. Fails with `problem` if the pass is not registered, or takes no
/// such options.
llvm::LogicalResult addPhase(mlir::OpPassManager &manager, Phase phase,
                             llvm::StringRef options, std::string &problem);

/// Adds the passes of a pipeline, in order; without the verifiers unless
/// `verify`. Fails as addPhase does.
llvm::LogicalResult addPipeline(mlir::OpPassManager &manager,
                                const PipelineInfo &pipeline, bool verify,
                                std::string &problem);

/// Registers the pipelines of the table under their names, with the option
/// `verify`. To be called once per process.
void registerPipelines();

} // namespace mtc::passes
#endif // MTC_PASSES_PIPELINES_H
