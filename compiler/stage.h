//===- stage.h - one rt.program to an object file ----------------*- C++
//-*-===//
#ifndef MTC_COMPILER_STAGE_H
#define MTC_COMPILER_STAGE_H

#include "compiler/phases.h"
#include "compiler/plan.h"
#include "runtime/base/status.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace mtc::compiler {

/// What one thread needs to compile one stage: no shared context, only text.
struct StageJob {
  std::string ir; ///< a module with the program's content
  const ProgramPlan *program = nullptr;
  std::string descriptor; ///< JSON
  std::string isa;
  std::string object;             ///< path to write; empty: none
  std::optional<Phase> stopAfter; ///< codegenKernels or lowerToLLVM
  bool keepIR = false;
  std::vector<std::pair<Phase, std::string>> saved; ///< result, if keepIR
};

/// One module per `rt.program`, by stage, as text: the program's kernels,
/// fragments and descriptions, the attributes of the module, those of the
/// program that have a dialect's prefix, and `rt.stage`.
std::vector<std::string> splitStages(mlir::ModuleOp module);

/// Runs codegen-kernels and lower-to-llvm, appends the tables and writes the
/// object. Safe to call from several threads on different jobs.
runtime::Status compileStage(StageJob &job);

/// Compiles all stages, at most `threads` at a time; the error is that of the
/// first stage that failed, whatever the timing.
runtime::Status compileStages(std::vector<StageJob> &jobs, int threads);

} // namespace mtc::compiler
#endif // MTC_COMPILER_STAGE_H
