//===- bundle.cpp - a plan to a folder of programs ------------------------===//

#include "compiler/bundle.h"

#include "compiler/descriptor.h"
#include "compiler/digests.h"
#include "compiler/explain/explain.h"
#include "compiler/front.h"
#include "compiler/output_folder.h"
#include "compiler/parallel.h"
#include "compiler/print_ir.h"
#include "compiler/report.h"
#include "compiler/run_phase.h"
#include "compiler/stage.h"
#include "compiler/write_programs.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/Timing.h"

#include <filesystem>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

/// The texts of the last phases: to print, or for --save-ir.
Status lowerTexts(mlir::ModuleOp module, const BundlePlan &plan,
                  std::optional<Phase> stopAfter, DiagnosticLog &log,
                  mlir::TimingScope &timing, std::vector<StageJob> &jobs) {
  mlir::TimingScope scope = timing.nest("lower for people to read");
  for (rt::ProgramOp program : programsByStage(module))
    jobs.push_back({program, plan.config.isa, stopAfter, {}});
  loadCodeDialects(*module.getContext());
  auto lowerJob = [&](size_t i) { return lowerStage(jobs[i], scope); };
  return withDiagnostics(
      forEachJob(*module.getContext(), jobs.size(), lowerJob), log);
}

Status showStages(const CompileOptions &options, std::vector<StageJob> &jobs) {
  for (StageJob &job : jobs)
    for (const auto &[phase, text] : job.saved)
      MTC_RETURN_IF_ERROR(showResult(options, phase, text, job.stage()));
  return Status::okay();
}

/// What is said of a plan; its programs need not be there.
Status writeTexts(mlir::ModuleOp module, const std::string &folder,
                  const BundlePlan &plan, mlir::TimingScope &timing,
                  CompileResult &result) {
  mlir::TimingScope scope = timing.nest("report and explain.json");
  result.report = report(plan);
  result.reportText = reportText(result.report);
  MTC_RETURN_IF_ERROR(writeFile(folder + "/report.txt", result.reportText));
  MTC_RETURN_IF_ERROR(
      writeFile(folder + "/report.json", result.report.dump(2) + "\n"));
  return writeFile(folder + "/explain.json",
                   explain(module, plan).dump() + "\n");
}

/// Behind all other files.
Status writeManifest(const std::string &folder, const BundlePlan &plan) {
  nlohmann::ordered_json manifest = describeBundle(plan);
  MTC_RETURN_IF_ERROR(addDigests(folder, manifest));
  return writeFile(folder + "/manifest.json", manifest.dump(2) + "\n");
}

} // namespace

Status writeBundle(const CompileOptions &options, mlir::ModuleOp module,
                   const BundlePlan &plan, KernelObjects &kernels,
                   DiagnosticLog &log, mlir::TimingScope &timing,
                   CompileResult &result) {
  OutputFolder output;
  MTC_RETURN_IF_ERROR(output.create(options.output));
  std::error_code error;
  std::filesystem::create_directory(output.folder() + "/programs", error);
  bool showsCode = wantsResult(options, Phase::codegenKernels) ||
                   wantsResult(options, Phase::lowerToLLVM);
  // Of a GPU's kernels people read the PTX.
  if (showsCode && !plan.config.isForGpu()) {
    std::vector<StageJob> jobs;
    MTC_RETURN_IF_ERROR(lowerTexts(module, plan, {}, log, timing, jobs));
    MTC_RETURN_IF_ERROR(showStages(options, jobs));
  }
  auto texts = [&] {
    return writeTexts(module, output.folder(), plan, timing, result);
  };
  MTC_RETURN_IF_ERROR(writePrograms(
      module, plan, output.folder(), checkBehind(options, Phase::lowerToLLVM),
      kernels, options.linkHelpers, texts, log, timing));
  MTC_RETURN_IF_ERROR(writeManifest(output.folder(), plan));
  return output.commit();
}

Status lowerStages(const CompileOptions &options, mlir::ModuleOp module,
                   const BundlePlan &plan, DiagnosticLog &log,
                   mlir::TimingScope &timing, std::string &text) {
  std::vector<StageJob> jobs;
  MTC_RETURN_IF_ERROR(lowerTexts(module, plan, options.to, log, timing, jobs));
  MTC_RETURN_IF_ERROR(showStages(options, jobs));
  for (const StageJob &job : jobs)
    text += (text.empty() ? "" : "// -----\n") + job.saved.back().second;
  return Status::okay();
}

} // namespace mtc::compiler
