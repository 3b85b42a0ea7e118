//===- stage.h - one rt.program to LLVM and object files --------*- C++ -*-===//
#ifndef MTC_COMPILER_STAGE_H
#define MTC_COMPILER_STAGE_H

#include "compiler/plan.h"
#include "passes/phases.h"
#include "runtime/base/status.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
class TimingScope;
} // namespace mlir

namespace mtc::compiler {

using passes::Phase;

/// What one thread needs to lower one stage for people to read: no shared
/// context, only text.
struct StageJob {
  std::string ir; ///< a module with the program's content
  int64_t stage = 0;
  std::string isa;
  std::optional<Phase> stopAfter; ///< codegenKernels or lowerToLLVM
  std::vector<std::pair<Phase, std::string>> saved; ///< the result
};

/// What one thread needs to make an object file: of the kernels of the stages
/// that have these very kernels, or of the fragments and tables of one stage.
struct ObjectJob {
  std::string ir;
  int64_t stage = 0;                    ///< the first that it is for
  const ProgramPlan *program = nullptr; ///< of the fragments; null: kernels
  std::string descriptor;               ///< JSON, if there is a program
  std::string isa;
  std::string object; ///< path to write
};

/// The code of a stage, as text: two modules that become two objects.
struct StageParts {
  std::string kernels; ///< empty if there are none; equal for equal kernels
  std::string fragments;
};

/// One module per `rt.program`, by stage, as text: the program's kernels,
/// fragments and descriptions, the attributes of the module, those of the
/// program that have a dialect's prefix, and `rt.stage`.
std::vector<std::string> splitStages(mlir::ModuleOp module);

/// The parts of each program, by stage, without what no code is made of:
/// timelines alone are most of a large plan's text.
std::vector<StageParts> splitParts(mlir::ModuleOp module);

/// Runs codegen-kernels and lower-to-llvm and keeps the text of both. Safe to
/// call from several threads on different jobs, whose times add up in `timing`.
runtime::Status lowerStage(StageJob &job, mlir::TimingScope &timing);

/// Lowers a part to LLVM, appends a program's tables and writes the object.
/// Safe to call from several threads on different jobs, whose times add up in
/// `timing`.
runtime::Status compileObject(const ObjectJob &job, mlir::TimingScope &timing);

} // namespace mtc::compiler
#endif // MTC_COMPILER_STAGE_H
