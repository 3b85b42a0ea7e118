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
#include "passes/plan/ProgramPhase.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <map>
#include <set>
#include <vector>

namespace mtc::passes {
#define GEN_PASS_DEF_OVERLAPGRADIENTS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

/// The collectives of each bucket that can go: by its number, in order.
using Sums = std::map<int64_t, std::vector<rt::CollectiveOp>>;

/// The bucket whose accumulators a buffer is of; -1 if of none.
int64_t bucketOf(Value buffer) {
  while (auto moved = buffer.getDefiningOp<rt::OffsetViewOp>())
    buffer = moved.getView();
  auto ref = buffer.getDefiningOp<rt::RefOp>();
  return ref && ref.getKind() == rt::RefKind::Grad
             ? static_cast<int64_t>(ref.getBucket().value_or(-1))
             : -1;
}

/// Whether its members are of one stage: others reach the same point of their
/// programs at another time.
bool staysOnStage(rt::CollectiveOp op) {
  return !kGroups[op.getGroup()].along(MTC_AXIS_PP);
}

/// What `reduce` does to a bucket before anything else reads it.
Sums sumsOf(func::FuncOp reduce) {
  Sums sums;
  std::set<int64_t> isRead;
  for (Operation &op : reduce.getBody().front()) {
    if (isMemoryEffectFree(&op))
      continue; // an address
    auto collective = dyn_cast<rt::CollectiveOp>(op);
    for (Value operand : op.getOperands()) {
      int64_t bucket = bucketOf(operand);
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
    for (auto fn : program.getOps<func::FuncOp>())
      if (auto of = pipe::FragmentAttr::of(fn);
          of && of.getPhase() == pipe::Phase::Reduce)
        sums = sumsOf(fn);
    for (func::FuncOp fn : microbatchFragments(program))
      if (failed(move(fn)))
        return failure();
    return success();
  }

private:
  /// To the fragment, or to its form of the last microbatch.
  LogicalResult move(func::FuncOp fn) {
    FailureOr<std::map<int64_t, MadeBucket>> made =
        gradientsMadeBy(fn, program, params);
    if (failed(made))
      return failure();
    if (llvm::none_of(*made, [&](auto &each) { return goes(each); }))
      return success();
    if (microbatches > 1)
      made = gradientsMadeBy(lastOf(fn), program, params);
    // Backwards: what is put behind the same op later stands before.
    for (auto &each : llvm::reverse(*made))
      if (goes(each))
        moveBehind(each.first, each.second);
    return success();
  }

  bool goes(const std::pair<const int64_t, MadeBucket> &bucket) const {
    return bucket.second.isComplete() && sums.count(bucket.first);
  }

  func::FuncOp lastOf(func::FuncOp fn) {
    func::FuncOp last = fn.clone();
    last.setSymName((fn.getSymName() + "_last").str());
    last->setAttr(pipe::FragmentAttr::attrName,
                  pipe::FragmentAttr::of(fn).ofLastMicrobatch());
    fn->getBlock()->getOperations().insertAfter(fn->getIterator(), last);
    return last;
  }

  void moveBehind(int64_t index, MadeBucket &bucket) {
    OpBuilder b(program.getContext());
    b.setInsertionPointAfter(bucket.last);
    IRMapping copies;
    for (rt::CollectiveOp sum : sums.at(index)) {
      copy(sum, b, copies, bucket.op.getLoc());
      erase(sum);
    }
    sums.erase(index);
  }

  /// With the addresses that it works on.
  static void copy(Operation *op, OpBuilder &b, IRMapping &copies,
                   Location loc) {
    for (Value operand : op->getOperands())
      if (!copies.contains(operand))
        copy(operand.getDefiningOp(), b, copies, loc);
    b.clone(*op, copies)->setLoc(loc);
  }

  /// With the addresses that nothing else needs.
  static void erase(Operation *op) {
    SmallVector<Value> operands(op->getOperands());
    op->erase();
    for (Value operand : operands)
      if (Operation *address = operand.getDefiningOp();
          address && isOpTriviallyDead(address))
        erase(address);
  }

  rt::ProgramOp program;
  ParamTable params;
  int64_t microbatches;
  Sums sums; ///< that have not gone yet
};

struct OverlapGradientsPass
    : ProgramPhase<PhasePass<
          mtc::passes::impl::OverlapGradientsBase<OverlapGradientsPass>>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<rt::RtDialect>();
  }
  LogicalResult runOnProgram(rt::ProgramOp program) const override {
    FailureOr<ConfigAttr> config =
        configOf(program->getParentOfType<ModuleOp>());
    if (failed(config))
      return failure();
    // Under ZeRO-2 every microbatch sums its gradients in its backward.
    if (!config->overlaps(Overlap::GradReduce) || config->shardsGradients())
      return success();
    return BackwardSums(program, config->getBatch().getMicrobatches()).run();
  }
};

} // namespace
