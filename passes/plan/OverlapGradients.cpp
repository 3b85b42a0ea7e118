//===- OverlapGradients.cpp - --overlap-gradients -------------------------===//
//
// Establishes: with `overlap = ["grad-reduce"]` the gradients of a bucket are
// summed over ranks behind its last one, in the backward of the last
// microbatch, where that is known. Behind lower-calls, for the same reason as
// shard-gradients.
//
//===----------------------------------------------------------------------===//
#include "dialects/mtc/Mtc.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/plan/Fragments.h"
#include "passes/plan/MadeGradients.h"
#include "passes/plan/MovedCollectives.h"
#include "passes/plan/ProgramPhase.h"
#include "passes/plan/Timelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <map>
#include <set>
#include <tuple>

namespace mtc::passes {
#define GEN_PASS_DEF_OVERLAPGRADIENTS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

/// What `reduce` does to a bucket before anything else reads it.
MovableCollectives sumsOf(func::FuncOp reduce) {
  MovableCollectives sums;
  std::set<int64_t> isRead;
  for (Operation &op : reduce.getBody().front()) {
    if (isMemoryEffectFree(&op))
      continue; // an address
    auto collective = dyn_cast<rt::CollectiveOp>(op);
    for (Value operand : op.getOperands()) {
      int64_t bucket = bucketOf(operand, rt::RefKind::Grad);
      if (collective && staysOnStage(collective) && !isRead.count(bucket))
        sums[bucket].push_back(collective);
      else
        isRead.insert(bucket);
    }
  }
  sums.erase(-1);
  return sums;
}

class BackwardSums {
public:
  BackwardSums(rt::ProgramOp program, int64_t microbatches)
      : program(program), params(program), microbatches(microbatches) {}

  LogicalResult run() {
    if (func::FuncOp reduce = updateOf(program, pipe::Phase::Reduce))
      sums = sumsOf(reduce);
    readForms();
    for (func::FuncOp fn : microbatchFragments(program))
      if (isRunLast(fn) && failed(move(fn)))
        return failure();
    return success();
  }

private:
  /// A form of a fragment, but for what follows from the order of slots.
  using FormKey = std::tuple<pipe::Phase, int64_t, pipe::Form>;
  static FormKey keyOf(func::FuncOp fn) {
    auto of = pipe::FragmentAttr::of(fn);
    return {of.getPhase(), of.getChunk(), of.getForm()};
  }

  void readForms() {
    for (auto timeline : program.getOps<pipe::TimelineOp>()) {
      if (timeline.getEntry() != "train")
        continue;
      pipe::Rows rows = timeline.getRows();
      SlotOrder order(rows);
      for (auto [at, slot] : llvm::enumerate(rows.all()))
        if (std::optional<pipe::Phase> phase =
                slot.isSlot() ? phaseOf("train", slot) : std::nullopt) {
          bool isLast =
              bitEnumContainsAll(order.conditionsOf(at), pipe::Form::Last);
          (isLast ? ofLast : ofOthers)
              .insert({*phase, slot.getChunk(), slot.getForm()});
        }
    }
  }

  bool isRunLast(func::FuncOp fn) const {
    return ofLast.empty() || ofLast.count(keyOf(fn));
  }
  bool isRunByOthers(func::FuncOp fn) const {
    return microbatches > 1 && (ofLast.empty() || ofOthers.count(keyOf(fn)));
  }

  /// To the fragment, or to its form of the last microbatch.
  LogicalResult move(func::FuncOp fn) {
    FailureOr<std::map<int64_t, MadeBucket>> made =
        gradientsMadeBy(fn, program, params);
    if (failed(made))
      return failure();
    if (llvm::none_of(*made, [&](auto &each) { return goes(each); }))
      return success();
    if (isRunByOthers(fn))
      made = gradientsMadeBy(cloneForm(fn, pipe::Form::Last), program, params);
    // Backwards: what is put behind the same op later stands before.
    for (auto &each : llvm::reverse(*made))
      if (goes(each))
        moveBehind(each.first, each.second);
    return success();
  }

  bool goes(const std::pair<const int64_t, MadeBucket> &bucket) const {
    return bucket.second.isComplete() && sums.count(bucket.first);
  }

  void moveBehind(int64_t index, MadeBucket &bucket) {
    OpBuilder b(program.getContext());
    b.setInsertionPointAfter(bucket.last);
    moveCollectives(sums.at(index), b, bucket.op.getLoc());
    sums.erase(index);
  }

  rt::ProgramOp program;
  ParamTable params;
  int64_t microbatches;
  MovableCollectives sums; ///< that have not gone yet
  /// What the last slots of phases and chunks run, and what the others do;
  /// empty where the program has no timeline yet.
  std::set<FormKey> ofLast, ofOthers;
};

struct OverlapGradientsPass
    : ConfiguredPhase<PhasePass<
          mtc::passes::impl::OverlapGradientsBase<OverlapGradientsPass>>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<rt::RtDialect>();
  }
  LogicalResult runConfigured(rt::ProgramOp program,
                              ConfigAttr config) const override {
    // Under ZeRO-2 every microbatch sums its gradients in its backward.
    if (!config.overlaps(Overlap::GradReduce) || config.shardsGradients())
      return success();
    return BackwardSums(program, config.getBatch().getMicrobatches()).run();
  }
};

} // namespace
