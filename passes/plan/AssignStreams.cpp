//===- AssignStreams.cpp - --assign-streams -------------------------------===//
//
// Establishes: every collective has its stream, and every op that touches what
// a collective works on is ordered against it by events. Fragments end joined.
//
//===----------------------------------------------------------------------===//
#include "dialects/rt/Rt.h"
#include "passes/Passes.h"
#include "passes/plan/ProgramPhase.h"
#include "passes/target/target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <vector>

namespace mtc::passes {
#define GEN_PASS_DEF_ASSIGNSTREAMS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

/// The part of a bucket that a view is of; null for a value of the fragment.
rt::RefOp refOf(Value value) {
  while (auto moved = value.getDefiningOp<rt::OffsetViewOp>())
    value = moved.getView();
  return value.getDefiningOp<rt::RefOp>();
}

/// True if both touch something that is no buffer, as the sum of the norm. The
/// order of collectives is that of their stream.
bool shareState(Operation *op, rt::CollectiveOp collective) {
  auto effects = getEffectsRecursively(op);
  SmallVector<MemoryEffects::EffectInstance> others;
  collective.getEffects(others);
  auto isState = [](const MemoryEffects::EffectInstance &effect) {
    return effect.getResource() != SideEffects::DefaultResource::get() &&
           effect.getResource() != rt::Communication::get();
  };
  return effects && llvm::any_of(*effects, [&](const auto &effect) {
           return isState(effect) &&
                  llvm::any_of(others, [&](const auto &other) {
                    return other.getResource() == effect.getResource();
                  });
         });
}

/// Whether two refs may be of the same bytes. Parts of one bucket count as the
/// same, as their ranges may be known to the rank only, and so does any
/// gradient by its name, which may lie in any bucket.
bool mayOverlap(rt::RefOp a, rt::RefOp b) {
  bool named = a.getParam() || b.getParam();
  return a.getKind() == b.getKind() && a.getState() == b.getState() &&
         (named || a.getBucket() == b.getBucket());
}

/// True if `op` reads or writes what `collective` works on.
bool touches(Operation *op, rt::CollectiveOp collective) {
  if (shareState(op, collective))
    return true;
  Value buffer = collective.getInit();
  auto ref = buffer ? refOf(buffer) : rt::RefOp();
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    if (collective->getNumResults() && operand == collective.getResult())
      return true;
    auto other = ref ? refOf(operand) : rt::RefOp();
    return other && mayOverlap(ref, other);
  });
}

class FragmentStreams {
public:
  explicit FragmentStreams(func::FuncOp fn) : fn(fn), b(fn.getContext()) {}

  void run() {
    for (Operation &op : llvm::make_early_inc_range(fn.getBody().front())) {
      if (auto collective = dyn_cast<rt::CollectiveOp>(op))
        move(collective);
      else if (op.hasTrait<OpTrait::IsTerminator>())
        join(&op);
      else if (!isPure(&op)) // an address touches nothing
        waitFor(&op);
    }
  }

private:
  struct InFlight {
    rt::CollectiveOp collective;
    int64_t event;
  };

  void record(Location loc, int64_t stream) {
    rt::RecordOp::create(b, loc, events++, stream);
  }
  void wait(Location loc, int64_t event, int64_t stream) {
    rt::WaitOp::create(b, loc, event, stream);
  }

  /// To the stream of collectives: its operand was made on the other one.
  void move(rt::CollectiveOp collective) {
    b.setInsertionPoint(collective);
    Location loc = collective.getLoc();
    record(loc, target::kComputeStream);
    wait(loc, events - 1, target::kCommStream);
    collective.setStream(target::kCommStream);
    b.setInsertionPointAfter(collective);
    record(loc, target::kCommStream);
    inFlight.push_back({collective, events - 1});
  }

  /// Collectives end in order: waiting for one waits for those before it.
  void waitFor(Operation *op) {
    for (size_t i = inFlight.size(); i-- > 0;) {
      if (!touches(op, inFlight[i].collective))
        continue;
      b.setInsertionPoint(op);
      wait(op->getLoc(), inFlight[i].event, target::kComputeStream);
      inFlight.erase(inFlight.begin(), inFlight.begin() + i + 1);
      return;
    }
  }

  void join(Operation *end) {
    if (inFlight.empty())
      return;
    b.setInsertionPoint(end);
    wait(end->getLoc(), inFlight.back().event, target::kComputeStream);
    inFlight.clear();
  }

  func::FuncOp fn;
  OpBuilder b;
  int64_t events = 0;
  std::vector<InFlight> inFlight; ///< in order of issue
};

struct AssignStreamsPass
    : ProgramPhase<
          PhasePass<mtc::passes::impl::AssignStreamsBase<AssignStreamsPass>>> {
  LogicalResult runOnProgram(rt::ProgramOp program) const override {
    auto target = target::Target::of(program->getParentOfType<ModuleOp>());
    if (failed(target))
      return failure();
    if (target->streams() > 1)
      for (auto fn : program.getOps<func::FuncOp>())
        FragmentStreams(fn).run();
    return success();
  }
};

} // namespace
