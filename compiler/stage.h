//===- stage.h - one rt.program to LLVM and object files --------*- C++ -*-===//
//
// A job copies what it needs of a program into a module of its own, in the
// context of the plan: locations stay, and jobs run side by side, of the same
// program too. `loadCodeDialects` comes before the first of them.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_STAGE_H
#define MTC_COMPILER_STAGE_H

#include "compiler/kernel_sets.h"
#include "compiler/plan.h"
#include "compiler/run_phase.h"
#include "compiler/shared_kernels.h"
#include "dialects/rt/Rt.h"
#include "passes/phases.h"
#include "runtime/base/status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir {
class TimingScope;
} // namespace mlir

namespace mtc::compiler {

using passes::Phase;

/// What one thread needs to lower one stage for people to read.
struct StageJob {
  rt::ProgramOp program; ///< read, not changed
  std::string isa;
  std::optional<Phase> stopAfter; ///< codegenKernels or lowerToLLVM
  std::vector<std::pair<Phase, std::string>> saved; ///< the result

  int64_t stage() { return program.getStage(); }
};

/// What one thread needs to make an object file: of kernels, which stages may
/// share, or of the fragments and tables of one stage.
struct ObjectJob {
  std::vector<NamedKernel> kernels;  ///< read, not changed; none: fragments
  rt::ProgramOp program;             ///< of the fragments; read, not changed
  const ProgramPlan *plan = nullptr; ///< of the fragments
  std::string descriptor;            ///< JSON, of the fragments
  RuntimeKernels runtimeKernels;     ///< of their program
  KernelNames names; ///< a kernel that is not in it keeps its own
  std::string isa;
  int64_t threads = 1; ///< of a rank
  IRCheck check = IRCheck::eachPass;
};

/// Loads what the last phases make into a context. Threads must not do that
/// while others work in it.
void loadCodeDialects(mlir::MLIRContext &context);

/// The programs of a module, by stage.
std::vector<rt::ProgramOp> programsByStage(mlir::ModuleOp module);

/// Runs codegen-kernels and lower-to-llvm and keeps the text of both. Safe to
/// call from several threads on different jobs, whose times add up in `timing`.
/// Errors: internal, with diagnostics in the context's handlers.
runtime::Status lowerStage(StageJob &job, mlir::TimingScope &timing);

/// The code of a job of fragments in the LLVM dialect, in a module of its own.
/// Safe to call as `makeObject`. Errors: its own.
runtime::Status lowerFragments(const ObjectJob &job, mlir::TimingScope &timing,
                               mlir::OwningOpRef<mlir::ModuleOp> &module);

/// Appends the tables of a job's program to a module that has or declares the
/// functions `fragments` (tables.h). Errors: internal.
runtime::Status addTables(mlir::ModuleOp module, const ObjectJob &job,
                          llvm::ArrayRef<PlanFragment> fragments);

/// Machine code of a module of fragments or tables. Errors: internal.
runtime::Status makeFragmentObject(mlir::ModuleOp module,
                                   const std::string &isa,
                                   mlir::TimingScope &timing,
                                   std::string &bytes);

/// Lowers a part to LLVM, appends a program's tables and makes the object. Safe
/// to call from several threads on different jobs, whose times add up in
/// `timing`. Errors: internal, with diagnostics in the context's handlers.
runtime::Status makeObject(const ObjectJob &job, mlir::TimingScope &timing,
                           std::string &bytes);

} // namespace mtc::compiler
#endif // MTC_COMPILER_STAGE_H
