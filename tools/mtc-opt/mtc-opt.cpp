//===- mtc-opt.cpp - runs passes on IR, for tests and for people ----------===//

#include "compiler/register.h"
#include "passes/phases.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include <fmt/format.h>

/// Our passes and pipelines in their order: --help lists all by the alphabet,
/// and what comes with MLIR between them.
static std::string overview() {
  using namespace mtc::passes;
  std::string text =
      "runs passes of mtc on IR\n\n"
      "Pipelines and their passes, in order; each is an option:\n";
  for (const PipelineInfo &pipeline : allPipelines()) {
    text += fmt::format("  --{:<20} {}\n", pipeline.name, pipeline.what);
    for (const PhaseInfo &info : allPhases())
      if (info.phase >= pipeline.first && info.phase <= pipeline.last)
        text += fmt::format("    --{:<20} {}\n", info.name, info.what);
  }
  return text +
         fmt::format("  --{:<20} {}\n", planPipeline.name, planPipeline.what);
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mtc::compiler::registerDialects(registry);
  mtc::compiler::registerMtcPasses();
  mtc::compiler::registerUpstreamPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, overview(), registry));
}
