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
    params.G = config.getSchedule().getGroup().value_or(
        schedules::defaultGroup(params));
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
    shape.anyOrder = true;
    return schedules::parseSchedule(pipeline::textOf(slots), shape, findings);
  }

  bool apart = false; ///< of the strategy: transfers are posted
  int64_t small = 0;  ///< of the strategy: slots of microbatches computed again

  using MaybeSchedule = std::optional<schedules::Schedule>;

  static MaybeSchedule ofTraining(ConfigAttr config,
                                  schedules::Findings &findings) {
    if (ArrayAttr slots = config.getSchedule().getSlots())
      return written(slots, config, findings);
    return schedules::generate(config.getSchedule().getName().str(),
                               paramsOf(config), findings);
  }

  static MaybeSchedule ofEvaluation(ConfigAttr config,
                                    schedules::Findings &findings) {
    schedules::Params params = paramsOf(config);
    params.G = std::min(params.G, params.m); // forwards alone take any
    return schedules::generate("forward-only", params, findings);
  }

  LogicalResult build(StringRef entry, MaybeSchedule schedule,
                      const schedules::Findings &findings) {
    ModuleOp module = getOperation();
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
                             schedule->chunks, schedule->microbatches, apart,
                             entry == "train" ? small : 0,
                             b.getStrArrayAttr(refs));
    return success();
  }

  void runPhase() override {
    FailureOr<ConfigAttr> config = configOf(getOperation());
    if (failed(config))
      return signalPassFailure();
    std::string name = config->getSchedule().getName().str();
    bool isWritten = static_cast<bool>(config->getSchedule().getSlots());
    if (std::string error = schedules::trainingScheduleError(name);
        !isWritten && !error.empty()) {
      getOperation().emitError("schedule of entry \"train\": ") << error;
      return signalPassFailure();
    }
    schedules::Findings inTraining, inEvaluation;
    apart = config->overlaps(Overlap::P2p);
    small = config->microbatchesComputedAgain();
    auto training = ofTraining(*config, inTraining);
    auto evaluation = ofEvaluation(*config, inEvaluation);
    if (failed(build("train", training, inTraining)) ||
        failed(build("eval", evaluation, inEvaluation)))
      signalPassFailure();
  }
};

} // namespace
