//===- accumulators.cpp - who adds to the sums of a step ------------------===//
//
// Gradients and the loss are sums over microbatches. A microbatch that is added
// twice is as wrong as one that is left out, so additions are counted.
//
//===----------------------------------------------------------------------===//
#include "passes/verify/checks.h"
#include "passes/verify/staged_sums.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

class AccumulatorChecker {
public:
  AccumulatorChecker(const Model &model, const Stage &stage, Report &report)
      : model(model), stage(stage), report(report) {}

  /// Microbatches may run fragments of different forms. What is wrong with all
  /// is reported once.
  void check() {
    int64_t before = report.size();
    for (pipe::Form conditions : stage.forms())
      if (report.size() == before)
        checkMicrobatch(conditions);
  }

private:
  void checkMicrobatch(pipe::Form conditions) {
    gradients.clear();
    loss.clear();
    for (const Fragment *fragment : stage.fragmentsOf(conditions))
      for (const Touch &touch : fragment->touches)
        for (const Access &access : touch.accesses)
          if (access.extent.arena == MTC_ARENA_GRADS && access.writes &&
              !sumsAccumulators(stage, touch))
            visit(*fragment, touch.op, access);
    if (model.shardsGradients)
      checkStagedSums(model, stage, stage.fragmentsOf(conditions), report);
    for (const Param &param : stage.params)
      if (!stage.shardsGradients(param.bucket()))
        checkParameter(param);
    for (Phase phase : {Phase::Forward, Phase::Eval})
      checkLoss(phase);
  }

  void visit(const Fragment &fragment, Operation *op, const Access &access) {
    // A plain write is a sum of one; checkViews says where it may stand.
    Additions found{op, std::max<int64_t>(access.adds, 1)};
    bool isLoss = access.extent.offset == stage.lossOffset;
    if (isLoss && fragment.isBackward())
      report.error(op)
          << "expected no backward fragment to add to the loss, found one";
    else if (isLoss)
      loss[fragment.phase()].push_back(found);
    else if (fragment.isBackward())
      gradients[access.extent.offset].push_back(found);
    else
      report.error(op) << "expected only backward fragments to add to "
                          "gradients, found \""
                       << fragment.name() << "\" at offset "
                       << access.extent.offset;
  }

  /// An op, and how often it adds.
  struct Additions {
    Operation *op;
    int64_t times;
  };

  static int64_t sum(ArrayRef<Additions> all) {
    int64_t times = 0;
    for (const Additions &each : all)
      times += each.times;
    return times;
  }

  void checkParameter(const Param &param) {
    rt::BucketOp bucket = stage.bucket(param.bucket());
    if (!bucket)
      return; // reported by checkOwners
    std::vector<Additions> &all =
        gradients[*bucket.getGradOffset() + bucket.gradBytes() * param.start()];
    int64_t times = sum(all);
    if (times == 0)
      report.error(param.op) << "expected backward to add to the gradient of \""
                             << param.name() << "\", found no op that does";
    else if (times > 1)
      report.error(all.back().op)
          << "expected backward to add to the gradient of \"" << param.name()
          << "\" once per microbatch, found it added " << times << " times";
  }

  /// The last stage adds the loss of a microbatch, forward only.
  void checkLoss(Phase phase) {
    bool isLast = stage.index == model.mesh.stages() - 1;
    std::vector<Additions> &all = loss[phase];
    if (int64_t times = sum(all); times != (isLast ? 1 : 0))
      report.error(all.empty() ? stage.op.getOperation() : all.back().op)
          << "expected " << (phase == Phase::Eval ? "eval" : "forward")
          << " of stage " << stage.index << " to add to the loss "
          << (isLast ? "once per microbatch" : "never") << ", found it added "
          << times << " times";
  }

  const Model &model;
  const Stage &stage;
  Report &report;
  std::map<int64_t, std::vector<Additions>> gradients; ///< by offset
  std::map<Phase, std::vector<Additions>> loss;
};

} // namespace

void checkAccumulators(const Model &model, Report &report) {
  forEachStage(model, report, [&](const Stage &stage, Report &found) {
    AccumulatorChecker(model, stage, found).check();
  });
}

} // namespace mtc::passes::verify
