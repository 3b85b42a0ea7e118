//===- gpu_kernels.cpp - the kernels of a plan as PTX ---------------------===//

#include "compiler/gpu_kernels.h"

#include "compiler/join_plans.h"
#include "compiler/object.h"
#include "compiler/output_folder.h"
#include "compiler/run_phase.h"
#include "compiler/stage.h"
#include "models/strategy.h"
#include "passes/target/target.h"

#include <algorithm>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

/// IR may have been edited by hand; the code generator would take any chip.
bool isKnown(const std::string &target) {
  return std::ranges::count(models::allTargets(), target) > 0;
}

} // namespace

Status readGpuTarget(const CompileOptions &options, mlir::ModuleOp module,
                     std::string &chip) {
  mlir::FailureOr<ConfigAttr> config = configOf(plansOf(module).front());
  if (failed(config))
    return {StatusCode::infeasible, "expected the module attribute mtc.config"};
  std::string target = config->getTarget().getDevice().str();
  if (!isKnown(target))
    return {StatusCode::infeasible,
            fmt::format("target of mtc.config: expected one that the strategy "
                        "has, found '{}'",
                        target)};
  std::string found = target::Target::chipOf(config->getTarget()).str();
  if (found.empty())
    return Status::okay();
  if (options.to && *options.to < Phase::codegenKernels)
    return Status::okay(); // IR only, which is the same text for every chip
  if (options.to != Phase::codegenKernels)
    return {StatusCode::infeasible,
            fmt::format("target: expected cpu, found {}; running on CUDA is "
                        "not built yet, so only its kernels can be compiled: "
                        "add --compile-to=kernels, or use --target=cpu",
                        target)};
  if (options.output.empty() || options.output == "-")
    return {StatusCode::usage, "expected -o DIR, the folder of the PTX files"};
  chip = std::move(found);
  return Status::okay();
}

Status writeGpuKernels(const CompileOptions &options, mlir::ModuleOp module,
                       const std::string &chip, DiagnosticLog &log) {
  OutputFolder output;
  MTC_RETURN_IF_ERROR(output.create(options.output));
  for (rt::ProgramOp program : programsByStage(module)) {
    std::string ptx;
    MTC_RETURN_IF_ERROR(withDiagnostics(emitPtx(program, chip, ptx), log));
    MTC_RETURN_IF_ERROR(writeFile(
        fmt::format("{}/stage{}.ptx", output.folder(), program.getStage()),
        ptx));
  }
  return output.commit();
}

} // namespace mtc::compiler
