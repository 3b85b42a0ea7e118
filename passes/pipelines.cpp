//===- pipelines.cpp - phases as pass pipelines ---------------------------===//
#include "passes/pipelines.h"

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

#include <fmt/format.h>

using namespace mlir;

namespace mtc::passes {
namespace {

struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<bool> verify{*this, "verify",
                      llvm::cl::desc("also run the phases named verify-*"),
                      llvm::cl::init(true)};
};

void registerPipeline(const PipelineInfo &pipeline) {
  registerPassPipeline(
      pipeline.name,
      fmt::format("{} ({} to {})", pipeline.what, toString(pipeline.first),
                  toString(pipeline.last)),
      [pipeline](OpPassManager &manager, StringRef given,
                 function_ref<LogicalResult(const Twine &)> error) {
        PipelineOptions options;
        std::string problem;
        if (failed(options.parseFromString(given)))
          return failure();
        if (failed(addPipeline(manager, pipeline, options.verify, problem)))
          return error(problem);
        return success();
      },
      [](function_ref<void(const detail::PassOptions &)> show) {
        show(PipelineOptions());
      });
}

} // namespace

LogicalResult addPhase(OpPassManager &manager, Phase phase, StringRef options,
                       std::string &problem) {
  const PassInfo *pass = PassInfo::lookup(toString(phase));
  if (!pass) {
    problem = fmt::format("expected a pass --{}, found none in this program",
                          toString(phase));
    return failure();
  }
  return pass->addToPipeline(manager, options, [&](const llvm::Twine &text) {
    problem = text.str();
    return failure();
  });
}

LogicalResult addPipeline(OpPassManager &manager, const PipelineInfo &pipeline,
                          bool verify, std::string &problem) {
  for (const PhaseInfo &info : allPhases())
    if (info.phase >= pipeline.first && info.phase <= pipeline.last &&
        (verify || !isVerifier(info.phase)) &&
        failed(addPhase(manager, info.phase, "", problem)))
      return failure();
  return success();
}

void registerPipelines() {
  for (const PipelineInfo &pipeline : allPipelines())
    registerPipeline(pipeline);
  registerPipeline(planPipeline);
}

} // namespace mtc::passes
