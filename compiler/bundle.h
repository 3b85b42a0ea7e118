//===- bundle.h - a plan to a folder of programs ----------------*- C++ -*-===//
#ifndef MTC_COMPILER_BUNDLE_H
#define MTC_COMPILER_BUNDLE_H

#include "compiler/compile.h"
#include "compiler/plan.h"

namespace mlir {
class ModuleOp;
class TimingScope;
} // namespace mlir

namespace mtc::compiler {

class DiagnosticLog;
class KernelObjects;

/// Compiles and links every program and writes the bundle `options.output`:
/// manifest.json, programs/stageN, programs/stageN.so, report.txt, report.json,
/// explain.json.
/// The folder appears whole or not at all, and equal inputs give equal bytes.
/// `log` is that of the module's context; what it gets is a part of errors.
runtime::Status writeBundle(const CompileOptions &options,
                            mlir::ModuleOp module, const BundlePlan &plan,
                            KernelObjects &kernels, DiagnosticLog &log,
                            mlir::TimingScope &timing, CompileResult &result);

/// Lowers every program up to `options.to` and gives the IR of all stages, one
/// after the other.
runtime::Status lowerStages(const CompileOptions &options,
                            mlir::ModuleOp module, const BundlePlan &plan,
                            DiagnosticLog &log, mlir::TimingScope &timing,
                            std::string &text);

} // namespace mtc::compiler
#endif // MTC_COMPILER_BUNDLE_H
