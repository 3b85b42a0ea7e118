//===- AssignStreams.cpp - --assign-streams -------------------------------===//
//
// Establishes: every collective has its stream, and every op that touches what
// a collective works on is ordered against it by events. Fragments end joined,
// but for sums of gradients before the update, for which the update waits. With
// the order of ops, which kernels continue products is known, too.
//
//===----------------------------------------------------------------------===//
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"
#include "passes/Passes.h"
#include "passes/plan/Continuations.h"
#include "passes/plan/MovedCollectives.h"
#include "passes/plan/Params.h"
#include "passes/plan/ProgramPhase.h"
#include "passes/target/target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <optional>
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

/// What ops of a program touch.
class Touching {
public:
  explicit Touching(rt::ProgramOp program) : params(program) {}

  /// True if `op` reads or writes what `collective` works on, which may be of
  /// another fragment.
  bool operator()(Operation *op, rt::CollectiveOp collective) const {
    if (shareState(op, collective))
      return true;
    Value buffer = collective.getInit();
    auto part = buffer ? partOf(buffer) : std::nullopt;
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      if (collective->getNumResults() && operand == collective.getResult())
        return true;
      auto other = part ? partOf(operand) : std::nullopt;
      return other && mayOverlap(*part, *other);
    });
  }

private:
  /// Some of what a bucket has: of all its bytes, as ranges may be known to the
  /// rank only.
  struct Part {
    rt::RefKind kind;
    std::optional<StringRef> state;
    std::optional<int64_t> bucket; ///< none of one that may lie in any
  };

  /// None of a value of the fragment.
  std::optional<Part> partOf(Value value) const {
    if (auto ref = refOf(value))
      return Part{ref.getKind(), ref.getState(), bucketOf(ref)};
    auto param = value.getDefiningOp<pipe::ParamOp>();
    if (!param)
      return std::nullopt;
    const ParamSlot *slot = params.parameter(param.getName());
    return Part{rt::RefKind::Param, std::nullopt,
                slot ? std::optional(slot->bucket) : std::nullopt};
  }

  static bool mayOverlap(const Part &a, const Part &b) {
    return a.kind == b.kind && a.state == b.state &&
           (!a.bucket || !b.bucket || *a.bucket == *b.bucket);
  }

  std::optional<int64_t> bucketOf(rt::RefOp ref) const {
    if (ref.getBucket())
      return *ref.getBucket();
    if (ref.getKind() == rt::RefKind::Loss)
      return -1;
    const ParamSlot *slot =
        ref.getParam() ? params.find(*ref.getParam(), *ref.getUse()) : nullptr;
    return slot ? std::optional(slot->bucket) : std::nullopt;
  }

  ParamTable params;
};

using Collectives = std::vector<rt::CollectiveOp>;

/// Whether it works on accumulators, which outlive the fragment.
bool isOfAccumulators(rt::CollectiveOp op) {
  auto ref = op.getInit() ? refOf(op.getInit()) : rt::RefOp();
  return ref && ref.getKind() == rt::RefKind::Grad;
}

class FragmentStreams {
public:
  FragmentStreams(func::FuncOp fn, const Touching &touches)
      : fn(fn), touches(touches), b(fn.getContext()) {}

  /// Behind the collectives that earlier fragments have left in flight.
  void runBehind(const Collectives &left) {
    rt::RecordOp all;
    if (!left.empty()) {
      b.setInsertionPointToStart(&fn.getBody().front());
      all = record(fn.getLoc(), target::kCommStream);
    }
    for (rt::CollectiveOp collective : left)
      inFlight.push_back({collective, all});
    run(/*left=*/nullptr);
  }

  /// Ends joined, or with sums of gradients in flight, which are added to
  /// `left`.
  void run(Collectives *left) {
    for (Operation &op : llvm::make_early_inc_range(fn.getBody().front())) {
      if (auto collective = dyn_cast<rt::CollectiveOp>(op))
        move(collective);
      else if (op.hasTrait<OpTrait::IsTerminator>())
        join(&op, left);
      else if (!isPure(&op)) // an address touches nothing
        waitFor(&op);
    }
    number();
  }

private:
  struct InFlight {
    rt::CollectiveOp collective;
    rt::RecordOp record; ///< null until somebody waits for it
  };

  /// Its number, the event's, is given at the end.
  rt::RecordOp record(Location loc, int64_t stream) {
    return rt::RecordOp::create(b, loc, /*event=*/0, stream);
  }
  void wait(Location loc, rt::RecordOp record, int64_t stream) {
    auto wait = rt::WaitOp::create(b, loc, /*event=*/0, stream);
    waits.push_back({wait, record});
  }

  /// To the stream of collectives: its operand was made on the other one.
  void move(rt::CollectiveOp collective) {
    if (!isAwaited(collective)) {
      b.setInsertionPoint(collective);
      awaited = record(collective.getLoc(), target::kComputeStream);
      wait(collective.getLoc(), awaited, target::kCommStream);
    }
    collective.setStream(target::kCommStream);
    inFlight.push_back({collective, nullptr});
  }

  /// Whether the stream of collectives has waited behind all that touches what
  /// this one works on. Of earlier fragments it knows nothing before it waits.
  bool isAwaited(rt::CollectiveOp collective) const {
    Value init = collective.getInit();
    if (!awaited)
      return false;
    for (Operation *op = collective->getPrevNode(); op != awaited;
         op = op->getPrevNode())
      if (!isa<rt::CollectiveOp>(op) && !isPure(op) &&
          (touches(op, collective) || names(op, init)))
        return false;
    return true;
  }

  /// Whether an op makes or reads a tensor.
  static bool names(Operation *op, Value tensor) {
    return llvm::is_contained(op->getResults(), tensor) ||
           llvm::is_contained(op->getOperands(), tensor);
  }

  /// Collectives end in order: waiting for one waits for those before it.
  void waitFor(Operation *op) {
    for (size_t last = inFlight.size(); last-- > 0;)
      if (touches(op, inFlight[last].collective))
        return waitUntil(op, last);
  }

  /// What stands in flight up to here has ended before `op`.
  void waitUntil(Operation *op, size_t last) {
    InFlight &each = inFlight[last];
    if (!each.record) {
      b.setInsertionPointAfter(each.collective);
      each.record = record(each.collective.getLoc(), target::kCommStream);
    }
    b.setInsertionPoint(op);
    wait(op->getLoc(), each.record, target::kComputeStream);
    // Those that earlier fragments left have one record.
    auto behind = std::find_if(
        inFlight.begin() + ptrdiff_t(last) + 1, inFlight.end(),
        [&](const InFlight &other) { return other.record != each.record; });
    inFlight.erase(inFlight.begin(), behind);
  }

  void join(Operation *end, Collectives *left) {
    while (left && !inFlight.empty() &&
           isOfAccumulators(inFlight.back().collective)) {
      left->push_back(inFlight.back().collective);
      inFlight.pop_back();
    }
    if (inFlight.empty())
      return;
    waitUntil(end, inFlight.size() - 1);
  }

  /// Events have numbers in the order of their records.
  void number() {
    int64_t events = 0;
    for (auto record : fn.getBody().front().getOps<rt::RecordOp>())
      record.setEvent(events++);
    for (auto &[wait, record] : waits)
      wait.setEvent(record.getEvent());
  }

  func::FuncOp fn;
  const Touching &touches;
  OpBuilder b;
  std::vector<InFlight> inFlight; ///< in order of issue
  rt::RecordOp awaited; ///< where the stream of collectives waited last
  std::vector<std::pair<rt::WaitOp, rt::RecordOp>> waits;
};

bool isUpdate(func::FuncOp fn) {
  auto of = pipe::FragmentAttr::of(fn);
  return of && of.isUpdate();
}

struct AssignStreamsPass
    : ProgramPhase<
          PhasePass<mtc::passes::impl::AssignStreamsBase<AssignStreamsPass>>> {
  LogicalResult runOnProgram(rt::ProgramOp program) const override {
    auto module = program->getParentOfType<ModuleOp>();
    auto target = target::Target::of(module);
    if (failed(target))
      return failure();
    if (target->streams() > 1)
      assign(program);
    if (configOf(module)->getTarget().hasEpilogue(mtc::Epilogue::Pointwise))
      continueProducts(program);
    return success();
  }

private:
  static void assign(rt::ProgramOp program) {
    Touching touches(program);
    func::FuncOp reduce = updateOf(program, pipe::Phase::Reduce);
    Collectives left;
    for (auto fn : program.getOps<func::FuncOp>())
      if (fn != reduce)
        FragmentStreams(fn, touches)
            .run(reduce && !isUpdate(fn) ? &left : nullptr);
    if (reduce)
      FragmentStreams(reduce, touches).runBehind(left);
  }
};

} // namespace
