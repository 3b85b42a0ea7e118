//===- FuseKernels.cpp - --fuse-kernels ---------------------------------------===//
//
// Establishes: fragments hold rt.launch, rt.gemm, rt.attention, rt.collective
// on tensors, and the boundary ops of pipe; no tfm or dist op is left.
//
//===----------------------------------------------------------------------===//
#include "dialects/dist/Dist.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/tfm/Tfm.h"
#include "passes/Passes.h"
#include "passes/pipeline/Config.h"
#include "passes/plan/Cluster.h"
#include "passes/plan/Gemm.h"
#include "passes/plan/Params.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace mtc::passes {
#define GEN_PASS_DEF_FUSEKERNELS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

/// Lowers the tfm and dist ops of one fragment.
class FragmentFuser {
public:
  FragmentFuser(func::FuncOp fn, const ParamTable &params, KernelPool &pool,
                families::AffineArg sampleBase)
      : fn(fn), params(params), pool(pool), sampleBase(sampleBase), cluster(sampleBase) {}
  LogicalResult run();

private:
  void sinkMarkers();
  void close(Operation *before);
  Value target(Value summed);
  Value gradRef(pipe::AccumulateOp sink);
  LogicalResult lower(Operation *op);
  LogicalResult lowerEinsum(tfm::EinsumOp op);
  LogicalResult lowerAttention(Operation *op, bool backward);
  LogicalResult lowerCollective(Operation *op);
  LogicalResult finishSinks();

  func::FuncOp fn;
  const ParamTable &params;
  KernelPool &pool;
  families::AffineArg sampleBase;
  Cluster cluster;
};

/// Ops that only say where a value lives go to the end, in order.
void FragmentFuser::sinkMarkers() {
  Operation *ret = fn.getBody().front().getTerminator();
  SmallVector<Operation *> markers;
  for (Operation &op : fn.getBody().front())
    if (isa<pipe::SendOp, pipe::KeepOp, pipe::ExportOp>(op))
      markers.push_back(&op);
  for (Operation *op : markers)
    op->moveBefore(ret);
}

void FragmentFuser::close(Operation *before) {
  cluster.emit(before, pool, [&](Value v) { return target(v); });
  cluster = Cluster(sampleBase);
}

Value FragmentFuser::gradRef(pipe::AccumulateOp sink) {
  const ParamSlot *slot = params.find(sink.getParam(), sink.getUse());
  if (!slot) {
    sink.emitOpError("expected a bucket for use ") << sink.getUse() << " of this parameter";
    return {};
  }
  OpBuilder b(sink);
  return rt::RefOp::create(b, sink.getLoc(), sink.getValue().getType(), "grad", slot->bucket,
                           slot->start);
}

/// The accumulator of a value that only a sink reads; the sink is erased.
Value FragmentFuser::target(Value summed) {
  if (!summed.hasOneUse())
    return {};
  Operation *user = *summed.user_begin();
  Value ref;
  if (auto sink = dyn_cast<pipe::AccumulateOp>(user)) {
    ref = gradRef(sink);
  } else if (auto loss = dyn_cast<pipe::LossOp>(user)) {
    OpBuilder b(user);
    ref = rt::RefOp::create(b, user->getLoc(), summed.getType(), "loss", 0, 0);
  }
  if (!ref)
    return {};
  // The ref has no operands: it may stand before the producer.
  ref.getDefiningOp()->moveBefore(&fn.getBody().front().front());
  user->erase();
  return ref;
}

LogicalResult FragmentFuser::lowerEinsum(tfm::EinsumOp op) {
  FailureOr<GemmForm> form = gemmForm(op);
  if (failed(form))
    return failure();
  OpBuilder b(op);
  Value a = op.getLhs(), c = op.getRhs();
  if (form->swapped)
    std::swap(a, c);
  Value ref = target(op.getResult());
  auto gemm = rt::GemmOp::create(
      b, op.getLoc(), ref ? Type() : op.getResult().getType(), a, c, ref, Value(), form->m,
      form->n, form->k, form->ta, form->tb, static_cast<bool>(ref));
  gemm->setAttr(tfm::layerAttr, op->getAttr(tfm::layerAttr));
  if (!ref)
    op.getResult().replaceAllUsesWith(gemm.getResult());
  op.erase();
  return success();
}

LogicalResult FragmentFuser::lowerAttention(Operation *op, bool backward) {
  OpBuilder b(op);
  auto value = [&](const families::AffineArg &a) -> Value {
    return rt::AffineOp::create(b, op->getLoc(), b.getI64Type(), a.constant, a.tp, a.dp,
                                a.microbatch, a.sample, a.seed);
  };
  SmallVector<Value> inputs(op->getOperands().drop_back()); // without the sample
  families::AffineArg head;
  if (op->hasAttr(families::indexStrideAttr)) {
    Value out = backward ? op->getOperand(0) : op->getResult(0);
    head.tp = cast<ShapedType>(out.getType()).getDimSize(2); // heads of this rank
  }
  auto get = [&](StringRef name) { return op->getAttr(name); };
  auto made = rt::AttentionOp::create(
      b, op->getLoc(), op->getResultTypes(), inputs, ValueRange{}, Value(), value(sampleBase),
      value(head), b.getBoolAttr(backward), cast<BoolAttr>(get("causal")),
      cast<FloatAttr>(get("scale")), cast<FloatAttr>(get("rate")),
      cast<IntegerAttr>(get("rng_layer")), cast<IntegerAttr>(get("site")),
      cast<IntegerAttr>(get("global_heads")));
  made->setAttr(tfm::layerAttr, op->getAttr(tfm::layerAttr));
  op->replaceAllUsesWith(made.getOutputs());
  op->erase();
  return success();
}

LogicalResult FragmentFuser::lowerCollective(Operation *op) {
  auto reduce = dyn_cast<dist::AllReduceOp>(op);
  if (!reduce)
    return op->emitOpError("has no lowering: only all_reduce occurs without sequence parallel");
  OpBuilder b(op);
  auto kind = reduce.getKind() == dist::ReduceKind::Max ? rt::CollectiveKind::AllReduceMax
                                                        : rt::CollectiveKind::AllReduce;
  auto made = rt::CollectiveOp::create(
      b, op->getLoc(), op->getResult(0).getType(), kind, reduce.getX(), reduce.getAxis(),
      cast<ShapedType>(reduce.getX().getType()).getNumElements());
  made->setAttr("origin", b.getStringAttr(dist::stringifyOrigin(reduce.getOrigin())));
  made->setAttr("serves", reduce.getServesAttr());
  if (auto layer = op->getAttr(tfm::layerAttr))
    made->setAttr(tfm::layerAttr, layer);
  op->getResult(0).replaceAllUsesWith(made.getResult());
  op->erase();
  return success();
}

LogicalResult FragmentFuser::lower(Operation *op) {
  if (auto einsum = dyn_cast<tfm::EinsumOp>(op))
    return lowerEinsum(einsum);
  if (isa<tfm::AttentionOp>(op))
    return lowerAttention(op, false);
  if (isa<tfm::AttentionGradOp>(op))
    return lowerAttention(op, true);
  if (op->getName().getDialectNamespace() == "dist")
    return lowerCollective(op);
  return op->emitOpError("has no lowering to a kernel: its operands do not fit one loop nest");
}

/// Gradients and losses that no kernel or GEMM could add in place.
LogicalResult FragmentFuser::finishSinks() {
  LogicalResult ok = success();
  fn.walk([&](Operation *op) {
    if (isa<pipe::AccumulateOp, pipe::LossOp>(op))
      ok = op->emitOpError("expected a value that its producer can add in place");
  });
  return ok;
}

LogicalResult FragmentFuser::run() {
  sinkMarkers();
  // Sinks and boundary ops stay out of the walk: `target` erases sinks.
  SmallVector<Operation *> ops;
  for (Operation &op : fn.getBody().front()) {
    StringRef dialect = op.getName().getDialectNamespace();
    if ((dialect == "tfm" || dialect == "dist") && !isa<tfm::FillOp>(op))
      ops.push_back(&op);
  }
  for (Operation *op : ops) {
    if (cluster.tryAdd(op))
      continue;
    close(op);
    if (cluster.tryAdd(op))
      continue;
    if (failed(lower(op)))
      return failure();
  }
  Operation *end = fn.getBody().front().getTerminator();
  while (end->getPrevNode() && isa<pipe::SendOp, pipe::KeepOp, pipe::ExportOp>(end->getPrevNode()))
    end = end->getPrevNode();
  close(end);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(fn.getBody().front())))
    if (op.use_empty() && isa<tfm::FillOp, pipe::SampleOp, pipe::ParamOp, pipe::KeptOp,
                              pipe::InputOp, pipe::ReceivedOp>(op))
      op.erase();
  return finishSinks();
}

struct FuseKernelsPass : mtc::passes::impl::FuseKernelsBase<FuseKernelsPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<rt::RtDialect, arith::ArithDialect, math::MathDialect>();
  }
  void runOnOperation() override {
    families::AffineArg sampleBase = sampleBaseOf(getOperation());
    for (auto program : getOperation().getOps<rt::ProgramOp>()) {
      ParamTable params(program);
      KernelPool pool(&program.getBody().front());
      SmallVector<func::FuncOp> fragments(program.getOps<func::FuncOp>());
      for (func::FuncOp fn : fragments)
        if (fn->hasAttr("pipe.phase") &&
            failed(FragmentFuser(fn, params, pool, sampleBase).run()))
          return signalPassFailure();
    }
  }
};

} // namespace
