//===- SplitBackward.cpp - --split-backward -------------------------------===//
//
// Establishes: where a stage's schedule has slots I and W, the backward
// fragment of the chunk is two: one that others wait for, and one that only
// accumulates.
//
//===----------------------------------------------------------------------===//
#include "dialects/dist/Dist.h"
#include "dialects/pipe/Pipe.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/pipeline/crossings.h"
#include "passes/pipeline/schedules/check.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <set>

namespace mtc::passes {
#define GEN_PASS_DEF_SPLITBACKWARD
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;

namespace {

/// Brings a value of another fragment, a parameter or an input in: where it is
/// needed twice there are two. What is received for the backward is gone after
/// the input gradient.
bool isSource(Operation *op) {
  auto received = dyn_cast<pipe::ReceivedOp>(op);
  return isa<pipe::ParamOp, pipe::InputOp, pipe::SampleOp, pipe::SavedOp>(op) ||
         (received && !received.getName().gradient);
}

/// One backward fragment, cut in two.
class Splitter {
public:
  /// Values that go from one half to the other are saved under `nextKey` and
  /// the keys behind it.
  Splitter(func::FuncOp fn, int64_t &nextKey) : fn(fn), nextKey(nextKey) {}

  /// Writes the halves in the place of the fragment.
  void split() {
    markWeight();
    build(pipe::Phase::InputGradient, "_input");
    build(pipe::Phase::WeightGradient, "_weight");
    fn.erase();
  }

private:
  /// An accumulation, and the chain of ops that nobody but it needs: each is
  /// used once, by the next one.
  void markWeight() {
    Block &body = fn.front();
    for (Operation &op : llvm::reverse(body.without_terminator())) {
      bool mayMove = !isSource(&op) && !isa<pipe::ReceivedOp>(op);
      if (isa<pipe::AccumulateOp>(op) ||
          (mayMove && op.hasOneUse() && weight.contains(*op.user_begin())))
        weight.insert(&op);
    }
  }

  void build(pipe::Phase phase, StringRef suffix) {
    OpBuilder b(fn);
    auto of = pipe::FragmentAttr::of(fn);
    std::string name = (fn.getSymName() + suffix).str();
    auto half = func::FuncOp::create(b, NameLoc::get(b.getStringAttr(name)),
                                     name, fn.getFunctionType());
    half->setAttr(pipe::FragmentAttr::attrName,
                  pipe::FragmentAttr::get(b.getContext(), of.getStage(),
                                          of.getChunk(), phase)
                      .with(of.getForm()));
    b.setInsertionPointToStart(half.addEntryBlock());
    IRMapping mapping;
    bool isWeightHalf = phase == pipe::Phase::WeightGradient;
    for (Operation &op : fn.front().without_terminator())
      if (!isSource(&op) && weight.contains(&op) == isWeightHalf) {
        for (Value operand : op.getOperands())
          bring(operand, mapping, b);
        b.clone(op, mapping);
        if (!isWeightHalf)
          saveResults(op, mapping, b);
      }
    func::ReturnOp::create(b, half.getLoc());
  }

  /// Makes `value` known in the half that is built: a source once more, else
  /// what the input gradient saved.
  void bring(Value value, IRMapping &mapping, OpBuilder &b) {
    if (mapping.contains(value))
      return;
    if (isSource(value.getDefiningOp())) {
      b.clone(*value.getDefiningOp(), mapping);
      return;
    }
    auto saved = pipe::SavedOp::create(b, value.getLoc(), value.getType(),
                                       b.getI64IntegerAttr(keys.lookup(value)));
    dist::copySharding(value, saved);
    mapping.map(value, saved.getResult());
  }

  /// What the weight gradient reads of an op of the input gradient.
  void saveResults(Operation &op, IRMapping &mapping, OpBuilder &b) {
    for (Value result : op.getResults()) {
      if (llvm::none_of(result.getUsers(),
                        [&](Operation *user) { return weight.contains(user); }))
        continue;
      keys[result] = nextKey;
      pipe::SaveOp::create(b, result.getLoc(), mapping.lookup(result),
                           b.getI64IntegerAttr(nextKey++));
    }
  }

  func::FuncOp fn;
  int64_t &nextKey;
  llvm::DenseSet<Operation *> weight;  ///< looked up only
  llvm::DenseMap<Value, int64_t> keys; ///< looked up only
};

using StageChunk = std::pair<int64_t, int64_t>;

/// The stages and chunks whose backward the entry train splits. Fails, after a
/// diagnostic, if it runs that of a chunk both ways.
FailureOr<std::set<StageChunk>> splitOnes(pipe::ScheduleOp op) {
  schedules::Shape shape;
  shape.stages = op.getStages();
  shape.chunks = op.getChunks();
  shape.microbatches = op.getMicrobatches();
  schedules::Findings findings;
  schedules::Schedule schedule = schedules::parseSchedule(
      pipeline::textOf(op.getSlots()), shape, findings);
  if (findings.empty())
    findings = schedules::checkHalves(schedule);
  for (const auto &finding : findings)
    op.emitOpError("is not a legal schedule: ") << finding.message;
  if (!findings.empty())
    return failure();
  std::set<StageChunk> found;
  for (auto [stage, slots] : llvm::enumerate(schedule.slots))
    for (const schedules::Slot &slot : slots)
      if (slot.phase == schedules::Phase::I ||
          slot.phase == schedules::Phase::W)
        found.insert({stage, slot.chunk});
  return found;
}

struct SplitBackwardPass
    : mtc::passes::PhasePass<
          passes::impl::SplitBackwardBase<SplitBackwardPass>> {
  /// Behind the keys that a stage has.
  int64_t nextKeyOf(int64_t stage) {
    int64_t next = 0;
    for (auto fn : getOperation().getOps<func::FuncOp>())
      if (auto of = pipe::FragmentAttr::of(fn); of && of.getStage() == stage)
        fn.walk([&](pipe::SaveOp save) {
          next = std::max(next, int64_t(save.getKey()) + 1);
        });
    return next;
  }

  void runPhase() override {
    std::set<StageChunk> toSplit;
    for (auto op : getOperation().getOps<pipe::ScheduleOp>()) {
      if (op.getSymName() != "train")
        continue;
      FailureOr<std::set<StageChunk>> found = splitOnes(op);
      if (failed(found))
        return signalPassFailure();
      toSplit = *found;
    }
    SmallVector<func::FuncOp> fragments(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp fn : fragments) {
      auto of = pipe::FragmentAttr::of(fn);
      if (!of || of.getPhase() != pipe::Phase::Backward ||
          !toSplit.count({of.getStage(), of.getChunk()}))
        continue;
      int64_t nextKey = nextKeyOf(of.getStage());
      Splitter(fn, nextKey).split();
    }
  }
};

} // namespace
