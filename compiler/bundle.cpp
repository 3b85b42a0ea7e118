//===- bundle.cpp - a plan to a folder of programs ------------------------===//

#include "compiler/bundle.h"

#include "compiler/descriptor.h"
#include "compiler/link.h"
#include "compiler/output_folder.h"
#include "compiler/parallel.h"
#include "compiler/print_ir.h"
#include "compiler/report.h"
#include "compiler/stage.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/Timing.h"

#include <filesystem>
#include <map>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

/// The texts of the last phases: to print, or for --save-ir.
Status lowerTexts(const CompileOptions &options, mlir::ModuleOp module,
                  const BundlePlan &plan, std::optional<Phase> stopAfter,
                  mlir::TimingScope &timing, std::vector<StageJob> &jobs) {
  mlir::TimingScope scope = timing.nest("lower for people to read");
  std::vector<std::string> modules = splitStages(module);
  for (size_t i = 0; i < plan.programs.size(); ++i)
    jobs.push_back({std::move(modules[i]),
                    plan.programs[i].stage(),
                    plan.config.isa,
                    stopAfter,
                    {}});
  return forEachJob(jobs.size(), options.threads,
                    [&](size_t i) { return lowerStage(jobs[i], scope); });
}

Status showStages(const CompileOptions &options,
                  const std::vector<StageJob> &jobs) {
  for (const StageJob &job : jobs)
    for (const auto &[phase, text] : job.saved)
      MTC_RETURN_IF_ERROR(showResult(options, phase, text, job.stage));
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
  std::vector<StageParts> parts = splitParts(module);
  std::map<std::string, std::string> kernels; // text -> object
  for (size_t i = 0; i < plan.programs.size(); ++i) {
    std::vector<std::string> &paths = objects.ofStage.emplace_back();
    if (parts[i].kernels.empty())
      continue;
    auto [it, fresh] = kernels.try_emplace(
        parts[i].kernels,
        fmt::format("{}/kernels{}.o", folder, kernels.size()));
    if (fresh)
      objects.jobs.push_back({it->first, plan.programs[i].stage(), nullptr, "",
                              plan.config.isa, it->second});
    paths.push_back(it->second);
  }
  for (size_t i = 0; i < plan.programs.size(); ++i) {
    const ProgramPlan &program = plan.programs[i];
    std::string path = fmt::format("{}/stage{}.o", folder, program.stage());
    objects.jobs.push_back({std::move(parts[i].fragments), program.stage(),
                            &program, describe(plan, program).dump(),
                            plan.config.isa, path});
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
Status writePrograms(const CompileOptions &options, mlir::ModuleOp module,
                     const BundlePlan &plan, const std::string &folder,
                     mlir::TimingScope &timing) {
  Toolchain toolchain;
  MTC_RETURN_IF_ERROR(findToolchain(toolchain));
  mlir::TimingScope scope = timing.nest("objects");
  Objects objects = planObjects(module, plan, folder);
  MTC_RETURN_IF_ERROR(
      forEachJob(objects.jobs.size(), options.threads, [&](size_t i) {
        return compileObject(objects.jobs[i], scope);
      }));
  scope.stop();
  mlir::TimingScope linking = timing.nest("link");
  MTC_RETURN_IF_ERROR(
      forEachJob(plan.programs.size(), options.threads, [&](size_t i) {
        return linkStage(toolchain, folder, objects.ofStage[i],
                         plan.programs[i].stage());
      }));
  std::error_code error;
  for (const ObjectJob &job : objects.jobs)
    std::filesystem::remove(job.object, error);
  return Status::okay();
}

Status writeTexts(const CompileOptions &options, const std::string &folder,
                  const BundlePlan &plan, CompileResult &result) {
  result.report = report(plan);
  if (!options.verify)
    result.report["verified"] = false;
  result.reportText = reportText(result.report);
  MTC_RETURN_IF_ERROR(writeFile(folder + "/report.txt", result.reportText));
  MTC_RETURN_IF_ERROR(
      writeFile(folder + "/report.json", result.report.dump(2) + "\n"));
  return writeFile(folder + "/manifest.json",
                   describeBundle(plan).dump(2) + "\n");
}

} // namespace

Status writeBundle(const CompileOptions &options, mlir::ModuleOp module,
                   const BundlePlan &plan, mlir::TimingScope &timing,
                   CompileResult &result) {
  OutputFolder output;
  MTC_RETURN_IF_ERROR(output.create(options.output));
  std::error_code error;
  std::filesystem::create_directory(output.folder() + "/programs", error);
  if (wantsResult(options, Phase::codegenKernels) ||
      wantsResult(options, Phase::lowerToLLVM)) {
    std::vector<StageJob> jobs;
    MTC_RETURN_IF_ERROR(lowerTexts(options, module, plan, {}, timing, jobs));
    MTC_RETURN_IF_ERROR(showStages(options, jobs));
  }
  MTC_RETURN_IF_ERROR(
      writePrograms(options, module, plan, output.folder(), timing));
  MTC_RETURN_IF_ERROR(writeTexts(options, output.folder(), plan, result));
  return output.commit();
}

Status lowerStages(const CompileOptions &options, mlir::ModuleOp module,
                   const BundlePlan &plan, mlir::TimingScope &timing,
                   std::string &text) {
  std::vector<StageJob> jobs;
  MTC_RETURN_IF_ERROR(
      lowerTexts(options, module, plan, options.to, timing, jobs));
  MTC_RETURN_IF_ERROR(showStages(options, jobs));
  for (const StageJob &job : jobs)
    text += (text.empty() ? "" : "// -----\n") + job.saved.back().second;
  return Status::okay();
}

} // namespace mtc::compiler
