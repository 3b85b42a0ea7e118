//===- FormClusters.cpp - --form-clusters ---------------------------------===//
//
// Establishes: what a fragment computes stands in an rt.cluster or is a call (a
// contraction, attention, a collective of dist); sinks follow what they add;
// ops that only say where a value lives stand last.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/families/FamilyPass.h"
#include "passes/plan/Calls.h"
#include "passes/plan/Cluster.h"
#include "passes/plan/Collectives.h"
#include "passes/plan/ProgramPhase.h"

#include "mlir/IR/Builders.h"

#include <utility>

namespace mtc::passes {
#define GEN_PASS_DEF_FORMCLUSTERS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

/// Writes the collectives that the shardings need on the fragment: verify-plan
/// rejects a plan that has lost one on all ranks alike.
void recordCollectives(func::FuncOp fn) {
  Builder b(fn.getContext());
  SmallVector<Attribute> all;
  fn.walk([&](Operation *op) {
    if (std::optional<CollectiveCall> call = callOf(op))
      all.push_back(b.getDictionaryAttr(
          {b.getNamedAttr("kind", b.getStringAttr(
                                      rt::stringifyCollectiveKind(call->kind))),
           b.getNamedAttr("group", b.getStringAttr(call->axis)),
           b.getNamedAttr("count", b.getI64IntegerAttr(call->count)),
           b.getNamedAttr("serves", call->serves)}));
  });
  fn->setAttr("rt.collectives", b.getArrayAttr(all));
}

/// A widened value is not stored for several readers: each kernel widens the
/// narrower one itself, which is less to read.
void spreadCasts(func::FuncOp fn) {
  SmallVector<tfm::CastOp> casts(fn.getBody().front().getOps<tfm::CastOp>());
  for (tfm::CastOp cast : casts) {
    auto bits = [](Value v) {
      return mlir::cast<ShapedType>(v.getType()).getElementTypeBitWidth();
    };
    if (bits(cast.getX()) >= bits(cast.getResult()))
      continue;
    for (OpOperand &use : llvm::make_early_inc_range(cast->getUses())) {
      OpBuilder b(use.getOwner());
      use.set(b.clone(*cast)->getResult(0));
    }
    cast.erase();
  }
}

/// Ops that only say where a value lives.
bool isMarker(Operation *op) {
  return isa<pipe::SendOp, pipe::SaveOp, pipe::ExportOp>(op);
}

/// Markers go to the end, in order.
void sinkMarkers(func::FuncOp fn) {
  Operation *ret = fn.getBody().front().getTerminator();
  SmallVector<Operation *> markers;
  for (Operation &op : fn.getBody().front())
    if (isMarker(&op))
      markers.push_back(&op);
  for (Operation *op : markers)
    op->moveBefore(ret);
}

/// Sinks follow their values' producers and are of their layers, so that a
/// kernel which makes a value can add it, too.
void raiseSinks(func::FuncOp fn) {
  SmallVector<Operation *> sinks;
  for (Operation &op : fn.getBody().front())
    if (isSink(&op))
      sinks.push_back(&op);
  for (Operation *sink : llvm::reverse(sinks))
    if (Operation *producer = sink->getOperand(0).getDefiningOp()) {
      sink->moveAfter(producer);
      if (Attribute layer = producer->getAttr(tfm::layerAttr))
        sink->setAttr(tfm::layerAttr, layer);
    }
}

/// A fill is a constant of the kernels that read it element by element; only
/// other readers, such as pipe.save or a look-up, want it in memory.
bool isConstant(Operation *op) {
  return isa<tfm::FillOp>(op) &&
         llvm::all_of(op->getUses(), [](OpOperand &use) {
           Operation *reader = use.getOwner();
           return isSink(reader) ||
                  (isa<families::KernelBodyOpInterface>(reader) &&
                   !isTable(ruleOf(reader), use.getOperandNumber()));
         });
}

/// The ops that compute, in order, but for the sinks of calls.
SmallVector<Operation *> computingOps(func::FuncOp fn) {
  SmallVector<Operation *> ops;
  for (Operation &op : fn.getBody().front()) {
    StringRef dialect = op.getName().getDialectNamespace();
    bool computes = (dialect == "tfm" || dialect == "dist") && !isConstant(&op);
    if (computes || (isSink(&op) && !isTakenByCall(&op)))
      ops.push_back(&op);
  }
  return ops;
}

/// Where the ops of a kernel come from, all of them.
Location locationOf(Block &body) {
  SmallVector<Location> all;
  for (Operation &op : body)
    all.push_back(op.getLoc());
  return FusedLoc::get(body.front().getContext(), all);
}

/// Puts the ops of a cluster into one rt.cluster in front of `before`.
void wrap(const Cluster &cluster, Operation *before) {
  if (cluster.getMembers().empty())
    return;
  auto body = std::make_unique<Block>();
  for (const Member &member : cluster.getMembers())
    member.op->moveBefore(body.get(), body->end());
  auto isOutside = [&](Operation *user) {
    return user->getBlock() != body.get();
  };
  SmallVector<Value> read;
  for (Operation &op : *body)
    for (Value result : op.getResults())
      if (llvm::any_of(result.getUsers(), isOutside))
        read.push_back(result);
  OpBuilder b(before);
  auto op =
      rt::ClusterOp::create(b, locationOf(*body), TypeRange(ValueRange(read)));
  for (auto [value, result] : llvm::zip(read, op.getResults())) {
    Value r = result;
    value.replaceUsesWithIf(
        r, [&](OpOperand &use) { return isOutside(use.getOwner()); });
  }
  b.setInsertionPointToEnd(body.get());
  rt::YieldOp::create(b, op.getLoc(), read);
  op.getBody().push_back(body.release());
}

/// Where the markers at the end begin.
Operation *endOf(func::FuncOp fn) {
  Operation *end = fn.getBody().front().getTerminator();
  while (end->getPrevNode() && isMarker(end->getPrevNode()))
    end = end->getPrevNode();
  return end;
}

/// Grows clusters greedily, in program order. A sink that reads a sum over the
/// rows of its cluster, and is not added to in place, has its turn behind that.
class ClusterFormer {
public:
  ClusterFormer(func::FuncOp fn, const ParamTable &params)
      : fn(fn), params(params), cluster(params) {}

  LogicalResult run() {
    for (Operation *op : computingOps(fn))
      if (failed(visit(op)))
        return failure();
    close(endOf(fn));
    return success();
  }

private:
  LogicalResult visit(Operation *op) {
    std::optional<Misfit> misfit = cluster.add(op);
    if (!misfit)
      return success();
    if (*misfit == Misfit::ReadsSum && isSink(op)) {
      waiting.push_back(op);
      return success();
    }
    close(op);
    misfit = cluster.add(op);
    if (misfit && !isCall(op))
      return op->emitOpError("in a cluster of its own in @")
             << fn.getName() << ": " << describe(*misfit, op);
    return success();
  }

  void close(Operation *before) {
    finish(before);
    // Each adds elements of its own domain, so one alone always fits.
    for (Operation *sink : std::exchange(waiting, {}))
      if (cluster.add(sink)) {
        finish(before);
        cluster.add(sink);
      }
    finish(before);
  }
  void finish(Operation *before) {
    wrap(cluster, before);
    cluster = Cluster(params);
  }

  func::FuncOp fn;
  const ParamTable &params;
  Cluster cluster;
  SmallVector<Operation *> waiting;
};

struct FormClustersPass
    : ProgramPhase<
          FamilyPass<mtc::passes::impl::FormClustersBase<FormClustersPass>>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ProgramPhase::getDependentDialects(registry);
    registry.insert<rt::RtDialect>();
  }
  LogicalResult runOnProgram(rt::ProgramOp program) const override {
    ParamTable params(program);
    for (func::FuncOp fn : microbatchFragments(program)) {
      recordCollectives(fn);
      spreadCasts(fn);
      sinkMarkers(fn);
      raiseSinks(fn);
      if (failed(ClusterFormer(fn, params).run()))
        return failure();
    }
    return success();
  }
};

} // namespace
