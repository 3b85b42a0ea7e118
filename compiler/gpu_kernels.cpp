//===- gpu_kernels.cpp - the kernels of a plan as PTX ---------------------===//

#include "compiler/gpu_kernels.h"

#include "compiler/join_plans.h"
#include "compiler/output_folder.h"
#include "compiler/run_phase.h"
#include "compiler/stage.h"
#include "models/strategy.h"
#include "passes/codegen/emit_ptx.h"
#include "passes/target/target.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;
using Json = nlohmann::ordered_json;

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

/// What launches need, of one program.
static Json describe(const codegen::GpuProgram &program) {
  Json kernels = Json::array();
  for (const codegen::GpuLaunch &launch : program.launches) {
    Json entries = Json::array();
    for (const codegen::GpuEntry &entry : launch.entries) {
      Json json{{"name", entry.name}, {"threads", entry.threads}};
      if (entry.blocks)
        json["blocks"] = entry.blocks;
      else
        json["columns_per_block"] = entry.columnsPerBlock;
      json["shared_bytes"] = entry.sharedBytes;
      entries.push_back(std::move(json));
    }
    kernels.push_back({{"kernel", launch.kernel},
                       {"entries", std::move(entries)},
                       {"workspace_bytes", launch.workspaceBytes}});
  }
  return {{"kernels", std::move(kernels)}};
}

static Status writeProgram(rt::ProgramOp program, const std::string &chip,
                           const std::string &folder) {
  auto made = codegen::emitPtx(program, chip);
  if (!made)
    return {StatusCode::internal, llvm::toString(made.takeError())};
  std::string base = fmt::format("{}/stage{}", folder, program.getStage());
  MTC_RETURN_IF_ERROR(writeFile(base + ".ptx", made->ptx));
  return writeFile(base + ".launches.json", describe(*made).dump(2) + "\n");
}

Status writeGpuKernels(const CompileOptions &options, mlir::ModuleOp module,
                       const std::string &chip, DiagnosticLog &log) {
  OutputFolder output;
  MTC_RETURN_IF_ERROR(output.create(options.output));
  for (rt::ProgramOp program : programsByStage(module))
    MTC_RETURN_IF_ERROR(
        withDiagnostics(writeProgram(program, chip, output.folder()), log));
  return output.commit();
}

} // namespace mtc::compiler
