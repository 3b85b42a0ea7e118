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

/// Where MLIR's verifier looks at the result of a phase. IR that was edited may
/// become what no pass expects, so all of it is looked at. A spec becomes what
/// our tests have looked at: of it that is verified which leaves mtc, and the
/// plan before anybody believes it.
IRCheck checkBehind(const CompileOptions &options, Phase phase);

/// Imports a spec, or parses IR. `after` is the phase whose result the module
/// is. The module's config names an instruction set that this machine has.
runtime::Status makeModule(const CompileOptions &options,
                           mlir::MLIRContext &context, DiagnosticLog &log,
                           mlir::OwningOpRef<mlir::ModuleOp> &module,
                           Phase &after);

/// Reads spec, strategy and options. Errors of all of them together; whether
/// they fit each other is another question.
models::Diagnostics readFiles(const CompileOptions &options,
                              models::ModelSpec &spec,
                              models::Strategy &strategy);

/// The errors as one status, with the exit code of the most basic one.
runtime::Status toStatus(const models::Diagnostics &diagnostics);

/// Imports a spec with a resolved strategy, as `makeModule`; the module is the
/// result of `import`.
runtime::Status importInputs(const models::ModelSpec &spec,
                             models::Strategy strategy, const std::string &isa,
                             mlir::MLIRContext &context, DiagnosticLog &log,
                             mlir::OwningOpRef<mlir::ModuleOp> &module);

/// Reads spec, strategy and options, and checks that they fit each other.
/// Errors of all of them together.
runtime::Status readInputs(const CompileOptions &options,
                           models::ModelSpec &spec, models::Strategy &strategy);

} // namespace mtc::compiler
#endif // MTC_COMPILER_FRONT_H
