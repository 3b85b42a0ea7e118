//===- bundle.cpp - a plan to a folder of programs ------------------------===//

#include "compiler/bundle.h"

#include "compiler/descriptor.h"
#include "compiler/digests.h"
#include "compiler/explain/explain.h"
#include "compiler/link/link.h"
#include "compiler/output_folder.h"
#include "compiler/parallel.h"
#include "compiler/print_ir.h"
#include "compiler/report.h"
#include "compiler/run_phase.h"
#include "compiler/shared_kernels.h"
#include "compiler/stage.h"

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

/// The objects of all programs. Stages with the same kernels share one of
/// these.
struct Objects {
  std::vector<ObjectJob> jobs; ///< kernels first, they take long
  std::vector<std::vector<std::string>> ofStage; ///< paths, as plan.programs
};

Objects planObjects(mlir::ModuleOp module, const BundlePlan &plan,
                    const std::string &folder) {
  Objects objects;
  std::vector<rt::ProgramOp> programs = programsByStage(module);
  for (auto [program, number] :
       llvm::zip_equal(programs, numberKernels(programs))) {
    std::vector<std::string> &paths = objects.ofStage.emplace_back();
    if (!number)
      continue;
    paths.push_back(fmt::format("{}/kernels{}.o", folder, *number));
    if (*number == objects.jobs.size()) // the first that has them
      objects.jobs.push_back(
          {program, nullptr, "", plan.config.isa, paths.back()});
  }
  for (size_t i = 0; i < plan.programs.size(); ++i) {
    const ProgramPlan &program = plan.programs[i];
    std::string path = fmt::format("{}/stage{}.o", folder, program.stage());
    objects.jobs.push_back({programs[i], &program,
                            describe(plan, program).dump(), plan.config.isa,
                            path});
    objects.ofStage[i].push_back(path);
  }
  return objects;
}

Status linkStage(const Toolchain &toolchain, const std::string &folder,
                 const std::vector<std::string> &objects, int64_t stage) {
  std::string file = folder + "/" + programFile(stage);
  MTC_RETURN_IF_ERROR(linkExecutable(toolchain, objects, file));
  return linkShared(toolchain, objects, file + ".so");
}

/// Objects -> executables and shared objects; the objects are not kept.
Status writePrograms(mlir::ModuleOp module, const BundlePlan &plan,
                     const std::string &folder, DiagnosticLog &log,
                     mlir::TimingScope &timing) {
  mlir::MLIRContext &context = *module.getContext();
  Toolchain toolchain;
  MTC_RETURN_IF_ERROR(findToolchain(toolchain));
  mlir::TimingScope scope = timing.nest("objects");
  Objects objects = planObjects(module, plan, folder);
  loadCodeDialects(context);
  auto compileJob = [&](size_t i) {
    return compileObject(objects.jobs[i], scope);
  };
  MTC_RETURN_IF_ERROR(withDiagnostics(
      forEachJob(context, objects.jobs.size(), compileJob), log));
  scope.stop();
  mlir::TimingScope linking = timing.nest("link");
  MTC_RETURN_IF_ERROR(forEachJob(context, plan.programs.size(), [&](size_t i) {
    return linkStage(toolchain, folder, objects.ofStage[i],
                     plan.programs[i].stage());
  }));
  std::error_code error;
  for (const ObjectJob &job : objects.jobs)
    std::filesystem::remove(job.object, error);
  return Status::okay();
}

Status writeTexts(const CompileOptions &options, mlir::ModuleOp module,
                  const std::string &folder, const BundlePlan &plan,
                  CompileResult &result) {
  result.report = report(plan);
  result.reportText = reportText(result.report);
  MTC_RETURN_IF_ERROR(writeFile(folder + "/report.txt", result.reportText));
  MTC_RETURN_IF_ERROR(
      writeFile(folder + "/report.json", result.report.dump(2) + "\n"));
  MTC_RETURN_IF_ERROR(
      writeFile(folder + "/explain.json", explain(module, plan).dump() + "\n"));
  nlohmann::ordered_json manifest = describeBundle(plan);
  MTC_RETURN_IF_ERROR(addDigests(folder, manifest));
  return writeFile(folder + "/manifest.json", manifest.dump(2) + "\n");
}

} // namespace

Status writeBundle(const CompileOptions &options, mlir::ModuleOp module,
                   const BundlePlan &plan, DiagnosticLog &log,
                   mlir::TimingScope &timing, CompileResult &result) {
  OutputFolder output;
  MTC_RETURN_IF_ERROR(output.create(options.output));
  std::error_code error;
  std::filesystem::create_directory(output.folder() + "/programs", error);
  if (wantsResult(options, Phase::codegenKernels) ||
      wantsResult(options, Phase::lowerToLLVM)) {
    std::vector<StageJob> jobs;
    MTC_RETURN_IF_ERROR(lowerTexts(module, plan, {}, log, timing, jobs));
    MTC_RETURN_IF_ERROR(showStages(options, jobs));
  }
  MTC_RETURN_IF_ERROR(
      writePrograms(module, plan, output.folder(), log, timing));
  MTC_RETURN_IF_ERROR(
      writeTexts(options, module, output.folder(), plan, result));
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
