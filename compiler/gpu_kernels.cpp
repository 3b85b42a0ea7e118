//===- gpu_kernels.cpp - the kernels of a plan as PTX ---------------------===//

#include "compiler/gpu_kernels.h"

#include "compiler/gpu_assembly.h"
#include "compiler/join_plans.h"
#include "compiler/locations.h"
#include "compiler/output_folder.h"
#include "compiler/parallel.h"
#include "compiler/report.h"
#include "compiler/run_phase.h"
#include "compiler/stage.h"
#include "models/target.h"
#include "mtc/runtime/gpu_attention.h"
#include "mtc/runtime/gpu_chips.h"
#include "passes/codegen/emit_ptx.h"
#include "passes/codegen/gpu_lower.h"
#include "passes/target/attention_call.h"
#include "passes/target/target.h"
#include "runtime/base/ptxas.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;
using Json = nlohmann::ordered_json;

namespace mtc::compiler {
namespace {

/// As strategies have it. IR may have been edited by hand; the code generator
/// would take any chip.
bool isKnown(const std::string &target) {
  std::string read;
  return models::parseTarget(target, read).ok && read == target;
}

/// Before anything takes time.
Status checkAssembler(const CompileOptions &options) {
  if (!options.cubin || !runtime::findPtxas().empty())
    return Status::okay();
  return {StatusCode::infeasible,
          "--cubin: expected ptxas of the CUDA toolkit in PATH, or in bin of "
          "CUDA_HOME (/usr/local/cuda), found none; leave --cubin out, and the "
          "driver compiles the PTX when a rank starts"};
}

} // namespace

Status readGpuTarget(const CompileOptions &options, mlir::ModuleOp module,
                     std::vector<std::string> &chips) {
  mlir::FailureOr<ConfigAttr> config = configOf(plansOf(module).front());
  if (failed(config))
    return {StatusCode::infeasible, "expected the module attribute mtc.config"};
  std::string target = config->getTarget().getDevice().str();
  if (!isKnown(target))
    return {StatusCode::infeasible,
            fmt::format("target of mtc.config: expected one that the strategy "
                        "has, {}, oldest first; found '{}'",
                        models::describeTarget(), target)};
  std::vector<std::string> found = gpuChipsOf(target);
  if (found.empty())
    return options.cubin ? Status(StatusCode::usage,
                                  "--cubin: expected code for GPUs (--target "
                                  "cuda:sm_90), found the target cpu")
                         : Status::okay();
  if (options.to && *options.to < Phase::codegenKernels)
    return Status::okay(); // IR only, which is the same text for every chip
  if (options.to == Phase::lowerToLLVM)
    return {StatusCode::infeasible,
            fmt::format("target: expected cpu to stop behind lower-to-llvm, "
                        "found {}; use --compile-to=kernels, or none",
                        target)};
  if (options.to && (options.output.empty() || options.output == "-"))
    return {StatusCode::usage, "expected -o DIR, the folder of the PTX files"};
  MTC_RETURN_IF_ERROR(checkAssembler(options));
  chips = std::move(found);
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
                       {"arguments", launch.arguments},
                       {"guarded", launch.guarded},
                       {"workspace_bytes", launch.workspaceBytes}});
  }
  return {{"kernels", std::move(kernels)}};
}

/// What is wrong with a call; empty: nothing.
static std::string missingKernel(rt::AttentionOp op) {
  MtcAttention call = target::attentionCall(op);
  const bool isWhole = call.dtype == MTC_F32 || call.head_dim % 8 == 0;
  if (isWhole && call.head_dim <= INT32_MAX &&
      cuda::attentionHeadSize(call.dtype == MTC_F16, int(call.head_dim)))
    return "";
  return fmt::format("expected heads for which there is attention on a GPU: of "
                     "at most 256 elements, in 16 bits a multiple of 8; found "
                     "{} with {}",
                     call.dtype == MTC_F32    ? "f32"
                     : call.dtype == MTC_BF16 ? "bf16"
                                              : "fp16",
                     call.head_dim);
}

Status checkGpuCalls(mlir::ModuleOp module) {
  Status result;
  module.walk([&](rt::AttentionOp op) {
    if (std::string problem = missingKernel(op); !problem.empty()) {
      result = {StatusCode::infeasible, describe(op.getLoc()) + problem};
      return mlir::WalkResult::interrupt();
    }
    return mlir::WalkResult::advance();
  });
  return result;
}

/// The rows of the descriptor that calls of mtc_launch name.
static void describeKernels(ProgramPlan &plan) {
  runtime::Descriptor &d = plan.descriptor;
  for (const codegen::GpuLaunch &launch : plan.gpu.launches) {
    for (const codegen::GpuEntry &entry : launch.entries)
      d.kernels.push_back({entry.name, entry.threads, entry.sharedBytes});
    d.kernelWorkspace = std::max(d.kernelWorkspace, launch.workspaceBytes);
  }
}

/// Fills in the cubins.
static Status assemble(codegen::GpuProgram &program) {
  const std::string ptxas = runtime::findPtxas();
  for (codegen::GpuCode &code : program.code) {
    std::map<std::string, runtime::AssembledEntry> entries;
    MTC_RETURN_IF_ERROR(assembleGpuCode(ptxas, code, entries));
  }
  return Status::okay();
}

/// The programs whose code is made, in order, and for each program the one
/// that has its code: most stages are alike.
struct GpuCodeOwners {
  std::vector<size_t> owners, of;
};

static GpuCodeOwners findOwners(llvm::ArrayRef<rt::ProgramOp> programs) {
  GpuCodeOwners found;
  for (size_t i = 0; i < programs.size(); ++i) {
    auto same = std::ranges::find_if(found.owners, [&](size_t owner) {
      return codegen::haveSameGpuCode(programs[owner], programs[i]);
    });
    if (same == found.owners.end())
      same = found.owners.insert(same, i);
    found.of.push_back(*same);
  }
  return found;
}

Status addGpuCode(mlir::ModuleOp module, llvm::ArrayRef<std::string> chips,
                  bool isAssembled, DiagnosticLog &log, BundlePlan &plan) {
  std::vector<rt::ProgramOp> programs = programsByStage(module);
  codegen::loadGpuDialects(*module.getContext());
  const GpuCodeOwners owners = findOwners(programs);
  auto compileOne = [&](size_t i) -> Status {
    const size_t owner = owners.owners[i];
    auto made = codegen::emitPtx(programs[owner], chips);
    if (!made)
      return {StatusCode::internal, llvm::toString(made.takeError())};
    plan.programs[owner].gpu = std::move(*made);
    return isAssembled ? assemble(plan.programs[owner].gpu) : Status::okay();
  };
  MTC_RETURN_IF_ERROR(withDiagnostics(
      forEachJob(*module.getContext(), owners.owners.size(), compileOne), log));
  for (size_t i = 0; i < programs.size(); ++i) {
    if (owners.of[i] != i)
      plan.programs[i].gpu = plan.programs[owners.of[i]].gpu;
    describeKernels(plan.programs[i]);
  }
  return Status::okay();
}

Status writeGpuKernels(const CompileOptions &options, const BundlePlan &plan) {
  OutputFolder output;
  MTC_RETURN_IF_ERROR(output.create(options.output));
  for (const ProgramPlan &program : plan.programs) {
    std::string base =
        fmt::format("{}/stage{}", output.folder(), program.stage());
    const bool isOne = program.gpu.code.size() == 1;
    for (const codegen::GpuCode &code : program.gpu.code) {
      const std::string file = base + (isOne ? "" : "." + code.chip);
      MTC_RETURN_IF_ERROR(writeFile(file + ".ptx", code.ptx));
      if (!code.cubin.empty())
        MTC_RETURN_IF_ERROR(writeFile(file + ".cubin", code.cubin));
    }
    MTC_RETURN_IF_ERROR(writeFile(base + ".launches.json",
                                  describe(program.gpu).dump(2) + "\n"));
  }
  Json costs = report(plan);
  MTC_RETURN_IF_ERROR(
      writeFile(output.folder() + "/report.json", costs.dump(2) + "\n"));
  MTC_RETURN_IF_ERROR(
      writeFile(output.folder() + "/report.txt", reportText(costs)));
  return output.commit();
}

} // namespace mtc::compiler
