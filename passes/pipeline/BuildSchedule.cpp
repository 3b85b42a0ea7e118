//===- BuildSchedule.cpp - --build-schedule -------------------------------===//
//
// Establishes: a checked pipe.schedule for each entry. The generators are pure
// functions in schedules/; this pass only writes down what they say.
//
//===----------------------------------------------------------------------===//
#include "dialects/mtc/Mtc.h"
#include "dialects/pipe/Pipe.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/pipeline/crossings.h"
#include "passes/pipeline/schedules/check.h"
#include "passes/pipeline/schedules/generators.h"

#include "mlir/IR/Builders.h"

namespace mtc::passes {
#define GEN_PASS_DEF_BUILDSCHEDULE
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;

namespace {

LogicalResult report(ModuleOp module, StringRef entry,
                     const schedules::Findings &findings) {
  for (const auto &finding : findings)
    module.emitError("schedule of entry \"")
        << entry << "\": " << finding.message;
  return findings.empty() ? success() : failure();
}

struct BuildSchedulePass
    : mtc::passes::PhasePass<
          passes::impl::BuildScheduleBase<BuildSchedulePass>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<pipe::PipeDialect>();
  }

  static schedules::Params paramsOf(ConfigAttr config) {
    schedules::Params params;
    params.p = config.getMesh().stages();
    params.v = config.getSchedule().getChunks();
    params.m = config.getBatch().getMicrobatches();
    // Groups are those of chunks. Forwards alone take any.
    params.G = config.getSchedule().getGroup().value_or(
        params.v == 1 ? 0 : std::min(params.p, params.m));
    return params;
  }

  /// The schedule that somebody wrote.
  static std::optional<schedules::Schedule>
  written(ArrayAttr slots, ConfigAttr config, schedules::Findings &findings) {
    schedules::Params params = paramsOf(config);
    schedules::Shape shape;
    shape.stages = params.p;
    shape.chunks = params.v;
    shape.microbatches = params.m;
    return schedules::parseSchedule(pipeline::textOf(slots), shape, findings);
  }

  LogicalResult build(StringRef entry, const std::string &name,
                      ConfigAttr config) {
    ModuleOp module = getOperation();
    schedules::Findings findings;
    ArrayAttr slots = config.getSchedule().getSlots();
    auto schedule = slots && entry == "train"
                        ? written(slots, config, findings)
                        : schedules::generate(name, paramsOf(config), findings);
    if (failed(report(module, entry, findings)))
      return failure();
    schedule->crossings = pipeline::crossingsOf(module, entry);
    if (failed(report(module, entry, schedules::checkSchedule(*schedule))))
      return failure();
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    SmallVector<std::string> lines;
    for (const auto &slots : schedule->slots)
      lines.push_back(schedules::printSlots(slots, schedule->chunks));
    SmallVector<StringRef> refs(lines.begin(), lines.end());
    pipe::ScheduleOp::create(b, module.getLoc(), entry, schedule->stages,
                             schedule->chunks, schedule->microbatches,
                             b.getStrArrayAttr(refs));
    return success();
  }

  void runPhase() override {
    FailureOr<ConfigAttr> config = configOf(getOperation());
    if (failed(config))
      return signalPassFailure();
    std::string name = config->getSchedule().getName().str();
    bool isWritten = static_cast<bool>(config->getSchedule().getSlots());
    if (std::string why = schedules::whyNotTrained(name);
        !isWritten && !why.empty()) {
      getOperation().emitError("schedule of entry \"train\": ") << why;
      return signalPassFailure();
    }
    if (failed(build("train", name, *config)) ||
        failed(build("eval", "forward-only", *config)))
      signalPassFailure();
  }
};

} // namespace
