//===- bundle.cpp - a plan to a folder of programs ------------------------===//

#include "compiler/bundle.h"

#include "compiler/descriptor.h"
#include "compiler/link.h"
#include "compiler/output_folder.h"
#include "compiler/report.h"
#include "compiler/stage.h"

#include "mlir/IR/BuiltinOps.h"

#include <filesystem>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

std::vector<StageJob> jobsFor(const CompileOptions &options,
                              mlir::ModuleOp module, const BundlePlan &plan) {
  std::vector<StageJob> jobs;
  std::vector<std::string> modules = splitStages(module);
  for (size_t i = 0; i < plan.programs.size(); ++i) {
    StageJob job;
    job.ir = std::move(modules[i]);
    job.program = &plan.programs[i];
    job.descriptor = describe(plan, plan.programs[i]).dump();
    job.isa = plan.config.isa;
    job.stopAfter = options.to;
    job.keepIR = !options.saveIR.empty();
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Status saveStages(const CompileOptions &options,
                  const std::vector<StageJob> &jobs) {
  if (options.saveIR.empty())
    return Status::okay();
  for (const StageJob &job : jobs)
    for (const auto &[phase, text] : job.saved)
      MTC_RETURN_IF_ERROR(
          writeFile(fmt::format("{}/{}-stage{}.mlir", options.saveIR,
                                phaseFileName(phase), job.program->stage),
                    text));
  return Status::okay();
}

/// Object -> executable and shared object; the object is not kept.
Status linkStage(const Toolchain &toolchain, const std::string &folder,
                 const StageJob &job) {
  std::string file = folder + "/" + programFile(job.program->stage);
  MTC_RETURN_IF_ERROR(linkExecutable(toolchain, job.object, file));
  MTC_RETURN_IF_ERROR(linkShared(toolchain, job.object, file + ".so"));
  std::error_code error;
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
                   const BundlePlan &plan, CompileResult &result) {
  Toolchain toolchain;
  MTC_RETURN_IF_ERROR(findToolchain(toolchain));
  OutputFolder output;
  MTC_RETURN_IF_ERROR(output.create(options.output));
  std::error_code error;
  std::filesystem::create_directory(output.folder() + "/programs", error);
  std::vector<StageJob> jobs = jobsFor(options, module, plan);
  for (StageJob &job : jobs) {
    job.stopAfter.reset();
    job.object =
        fmt::format("{}/stage{}.o", output.folder(), job.program->stage);
  }
  MTC_RETURN_IF_ERROR(compileStages(jobs, options.threads));
  MTC_RETURN_IF_ERROR(saveStages(options, jobs));
  for (const StageJob &job : jobs)
    MTC_RETURN_IF_ERROR(linkStage(toolchain, output.folder(), job));
  MTC_RETURN_IF_ERROR(writeTexts(options, output.folder(), plan, result));
  return output.commit();
}

Status lowerStages(const CompileOptions &options, mlir::ModuleOp module,
                   const BundlePlan &plan, std::string &text) {
  std::vector<StageJob> jobs = jobsFor(options, module, plan);
  MTC_RETURN_IF_ERROR(compileStages(jobs, options.threads));
  MTC_RETURN_IF_ERROR(saveStages(options, jobs));
  for (const StageJob &job : jobs)
    text += (text.empty() ? "" : "// -----\n") + job.saved.back().second;
  return Status::okay();
}

} // namespace mtc::compiler
