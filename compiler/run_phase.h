//===- run_phase.h - runs one pass and keeps what it says -------*- C++ -*-===//
#ifndef MTC_COMPILER_RUN_PHASE_H
#define MTC_COMPILER_RUN_PHASE_H

#include "passes/phases.h"
#include "runtime/base/status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/Timing.h"

#include <memory>
#include <mutex>
#include <string>

namespace llvm {
class ThreadPoolInterface;
} // namespace llvm

namespace mtc::compiler {

using passes::Phase;

/// Collects the diagnostics of one context as plain text, a line each:
/// "file:line:column: part of the model: error: message", notes indented below.
class DiagnosticLog {
public:
  explicit DiagnosticLog(mlir::MLIRContext &context);
  /// What was said since the last call.
  std::string take();
  /// Whether an error was among it.
  bool hasError() const;

private:
  mutable std::mutex mutex_; ///< kernels' code is made on another thread
  std::string text_;
  bool hasError_ = false;
  mlir::ScopedDiagnosticHandler handler_;
};

/// A context with our dialects. It runs nested passes and verifies on
/// `threads`, which must outlive it, or on none.
std::unique_ptr<mlir::MLIRContext>
makeContext(llvm::ThreadPoolInterface *threads = nullptr);

/// Where MLIR's verifier looks at what a phase made. Passes expect IR that it
/// accepts, and crash on other.
enum class IRCheck {
  none,
  result,  ///< once, at the module behind the phase
  eachPass ///< behind each pass that the phase is made of
};

/// Runs the pass of `phase` on a module; `options` is what stands in braces
/// after the flag, or empty. Its time is a part of `timing`; scopes without a
/// manager measure nothing. Safe to call from several threads on modules of one
/// context that has loaded what the pass makes. Errors: infeasible from
/// verify-plan, internal from all others, with diagnostics in the context's
/// handlers; internal if the pass is not part of this build.
runtime::Status runPass(Phase phase, mlir::ModuleOp module,
                        mlir::TimingScope &timing,
                        IRCheck check = IRCheck::eachPass,
                        const std::string &options = "");

/// `status` with what was reported since the log was last read. A reported
/// error is one, whatever `status` says (internal); without one, warnings go to
/// stderr.
runtime::Status withDiagnostics(runtime::Status status, DiagnosticLog &log);

/// Runs a phase as `runPass` on each plan of a module (join_plans.h); errors
/// have the diagnostics.
runtime::Status runPhase(Phase phase, mlir::ModuleOp module, DiagnosticLog &log,
                         mlir::TimingScope &timing,
                         IRCheck check = IRCheck::eachPass);

/// Parses IR from a file, or from standard input for "-"; `phase` is the one
/// that the module says it has reached. Errors: inputRejected for a file that
/// cannot be read, infeasible with the parser's messages.
runtime::Status parseModule(const std::string &path, mlir::MLIRContext &context,
                            DiagnosticLog &log,
                            mlir::OwningOpRef<mlir::ModuleOp> &module,
                            std::optional<Phase> &phase);

} // namespace mtc::compiler
#endif // MTC_COMPILER_RUN_PHASE_H
