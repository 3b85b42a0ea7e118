//===- front.h - options to the first IR ------------------------*- C++ -*-===//
#ifndef MTC_COMPILER_FRONT_H
#define MTC_COMPILER_FRONT_H

#include "compiler/compile.h"
#include "compiler/run_phase.h"
#include "models/spec.h"

namespace mtc::compiler {

/// Checks options against each other. Errors: usage, all at once.
runtime::Status checkOptions(const CompileOptions &options);

/// Checks the phases of options against the one that the first module is the
/// result of. Errors: usage, all at once.
runtime::Status checkPhases(const CompileOptions &options, Phase after);

/// Imports a spec, or parses IR. `after` is the phase whose result the module
/// is. The module's config names an instruction set that this machine has.
runtime::Status makeModule(const CompileOptions &options,
                           mlir::MLIRContext &context, DiagnosticLog &log,
                           mlir::OwningOpRef<mlir::ModuleOp> &module,
                           Phase &after);

/// Reads spec, strategy and options, and checks that they fit each other.
/// Errors of all of them together.
runtime::Status readInputs(const CompileOptions &options,
                           models::ModelSpec &spec, models::Strategy &strategy);

} // namespace mtc::compiler
#endif // MTC_COMPILER_FRONT_H
