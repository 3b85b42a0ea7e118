//===- FuseKernels.cpp - --fuse-kernels -----------------------------------===//
//
// Establishes: fragments hold rt.launch, rt.gemm, rt.attention, rt.collective
// on tensors, and the boundary ops of pipe; no tfm or dist op is left.
//
//===----------------------------------------------------------------------===//
#include "dialects/dist/Dist.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/tfm/Tfm.h"
#include "mtc/runtime/mesh.h"
#include "passes/Config.h"
#include "passes/Passes.h"
#include "passes/families/FamilyPass.h"
#include "passes/plan/Cluster.h"
#include "passes/plan/Collectives.h"
#include "passes/plan/Gemm.h"
#include "passes/plan/Params.h"
#include "passes/plan/ProgramPhase.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

#include <map>
#include <tuple>

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
                rt::Affine sampleBase)
      : fn(fn), params(params), pool(pool), sampleBase(sampleBase),
        cluster(sampleBase) {}
  LogicalResult run();

private:
  void sinkMarkers();
  void spreadCasts();
  void raiseSinks();
  void recordCollectives();
  LogicalResult close(Operation *before);
  Value accumulatorOf(Operation *sink);
  FailureOr<Value> takeSink(Value produced);
  LogicalResult lower(Operation *op);
  LogicalResult lowerEinsum(tfm::EinsumOp op);
  LogicalResult lowerAttention(Operation *op, bool backward);

  func::FuncOp fn;
  const ParamTable &params;
  KernelPool &pool;
  rt::Affine sampleBase;
  Cluster cluster;
  std::map<std::tuple<rt::RefKind, int64_t, int64_t>, Value>
      refs; ///< by kind, bucket, start
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

/// A widened value is not stored for several readers: each kernel widens the
/// narrower one itself, which is less to read.
void FragmentFuser::spreadCasts() {
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

/// Sinks follow their values' producers and are of their layers, so that a
/// kernel which makes a value can add it, too.
void FragmentFuser::raiseSinks() {
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

LogicalResult FragmentFuser::close(Operation *before) {
  LogicalResult ok = cluster.emit(
      before, pool, [&](Operation *sink) { return accumulatorOf(sink); });
  cluster = Cluster(sampleBase);
  return ok;
}

Value FragmentFuser::accumulatorOf(Operation *sink) {
  std::tuple<rt::RefKind, int64_t, int64_t> place{rt::RefKind::Loss, 0, 0};
  if (auto gradient = dyn_cast<pipe::AccumulateOp>(sink)) {
    const ParamSlot *slot = params.find(gradient.getParam(), gradient.getUse());
    if (!slot) {
      sink->emitOpError("expected a bucket for use ")
          << gradient.getUse() << " of the parameter \"" << gradient.getParam()
          << "\", found none in this program";
      return {};
    }
    place = {rt::RefKind::Grad, slot->bucket, slot->start};
  }
  Value &ref = refs[place];
  if (!ref) {
    // It has no operands: it may stand before the producer.
    OpBuilder b = OpBuilder::atBlockBegin(&fn.getBody().front());
    auto type = cast<RankedTensorType>(sink->getOperand(0).getType());
    auto &[kind, bucket, start] = place;
    bool ofBucket = kind != rt::RefKind::Loss;
    ref = rt::RefOp::create(
        b, sink->getLoc(), type.clone(b.getF32Type()), kind, StringAttr(),
        ofBucket ? b.getI64IntegerAttr(bucket) : IntegerAttr(), start);
  }
  return ref;
}

/// The accumulator of a value that only a sink reads, and erases the sink; null
/// if other ops read the value.
FailureOr<Value> FragmentFuser::takeSink(Value produced) {
  Operation *sink = soleSink(produced);
  if (!sink)
    return Value();
  Value ref = accumulatorOf(sink);
  if (!ref)
    return failure();
  sink->erase();
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
  FailureOr<Value> sink = takeSink(op.getResult());
  if (failed(sink))
    return failure();
  Value ref = *sink;
  auto gemm = rt::GemmOp::create(b, op.getLoc(),
                                 ref ? Type() : op.getResult().getType(), a, c,
                                 ref, Value(), form->m, form->n, form->k,
                                 form->ta, form->tb, static_cast<bool>(ref));
  gemm->setAttr(tfm::layerAttr, op->getAttr(tfm::layerAttr));
  if (!ref)
    op.getResult().replaceAllUsesWith(gemm.getResult());
  op.erase();
  return success();
}

LogicalResult FragmentFuser::lowerAttention(Operation *op, bool backward) {
  OpBuilder b(op);
  auto value = [&](const rt::Affine &a) {
    return rt::AffineOp::create(b, op->getLoc(), b.getI64Type(), a);
  };
  SmallVector<Value> inputs(
      op->getOperands().drop_back()); // without the sample
  rt::Affine head;
  if (auto axis = op->getAttrOfType<StringAttr>(families::indexAxisAttr)) {
    Value out = backward ? op->getOperand(0) : op->getResult(0);
    head[*splittingAxis(axis.getValue())] =
        cast<ShapedType>(out.getType()).getDimSize(2); // heads of this rank
  }
  auto get = [&](StringRef name) { return op->getAttr(name); };
  auto made = rt::AttentionOp::create(
      b, op->getLoc(), op->getResultTypes(), inputs, ValueRange{}, Value(),
      value(sampleBase), value(head), b.getBoolAttr(backward),
      cast<BoolAttr>(get("causal")), cast<FloatAttr>(get("scale")),
      cast<FloatAttr>(get("rate")), cast<IntegerAttr>(get("rng_layer")),
      cast<IntegerAttr>(get("site")), cast<IntegerAttr>(get("global_heads")));
  made->setAttr(tfm::layerAttr, op->getAttr(tfm::layerAttr));
  op->replaceAllUsesWith(made.getOutputs());
  op->erase();
  return success();
}

/// Writes the collectives that the shardings need on the fragment: verify-plan
/// refuses a plan that has lost one on all ranks alike.
void FragmentFuser::recordCollectives() {
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
  // The update's are checked for what they mean.
  if (!pipe::FragmentAttr::of(fn).isUpdate())
    fn->setAttr("rt.collectives", b.getArrayAttr(all));
}

LogicalResult FragmentFuser::lower(Operation *op) {
  if (auto einsum = dyn_cast<tfm::EinsumOp>(op))
    return lowerEinsum(einsum);
  if (isa<tfm::AttentionOp>(op))
    return lowerAttention(op, false);
  if (isa<tfm::AttentionGradOp>(op))
    return lowerAttention(op, true);
  if (op->getName().getDialectNamespace() == "dist")
    return lowerCollective(op, pool);
  return op->emitOpError(
      "has no lowering to a kernel: its operands do not fit one loop nest");
}

/// A fill is a constant of the kernels that read it element by element; only
/// other readers, such as pipe.keep or a look-up, want it in memory.
static bool isConstant(Operation *op) {
  return isa<tfm::FillOp>(op) &&
         llvm::all_of(op->getUses(), [](OpOperand &use) {
           Operation *reader = use.getOwner();
           return isSink(reader) ||
                  (isa<families::KernelBodyOpInterface>(reader) &&
                   !isTable(ruleOf(reader), use.getOperandNumber()));
         });
}

/// A GEMM takes its sink with it when it is lowered.
static bool isTakenByGemm(Operation *op) {
  return isSink(op) && soleSink(op->getOperand(0)) &&
         isa_and_nonnull<tfm::EinsumOp>(op->getOperand(0).getDefiningOp());
}

LogicalResult FragmentFuser::run() {
  recordCollectives();
  spreadCasts();
  sinkMarkers();
  raiseSinks();
  SmallVector<Operation *> ops;
  for (Operation &op : fn.getBody().front()) {
    StringRef dialect = op.getName().getDialectNamespace();
    bool computes = (dialect == "tfm" || dialect == "dist") && !isConstant(&op);
    if (computes || (isSink(&op) && !isTakenByGemm(&op)))
      ops.push_back(&op);
  }
  for (Operation *op : ops) {
    // A sum over rows takes its sink with it when the cluster is emitted.
    if (isSink(op) && soleSink(op->getOperand(0)) &&
        cluster.sums(op->getOperand(0)))
      continue;
    if (cluster.tryAdd(op))
      continue;
    if (failed(close(op)))
      return failure();
    if (cluster.tryAdd(op))
      continue;
    if (failed(lower(op)))
      return failure();
  }
  Operation *end = fn.getBody().front().getTerminator();
  while (end->getPrevNode() &&
         isa<pipe::SendOp, pipe::KeepOp, pipe::ExportOp>(end->getPrevNode()))
    end = end->getPrevNode();
  if (failed(close(end)))
    return failure();
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(fn.getBody().front())))
    if (op.use_empty() &&
        isa<tfm::FillOp, pipe::SampleOp, pipe::ParamOp, pipe::KeptOp,
            pipe::InputOp, pipe::ReceivedOp>(op))
      op.erase();
  return success();
}

struct FuseKernelsPass
    : ProgramPhase<
          FamilyPass<mtc::passes::impl::FuseKernelsBase<FuseKernelsPass>>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ProgramPhase::getDependentDialects(registry);
    registry.insert<rt::RtDialect, arith::ArithDialect, math::MathDialect>();
  }
  /// Kernels take a rank's coordinate as a factor of an axis by its name.
  LogicalResult checkAxes(rt::ProgramOp program) const {
    bool good = true;
    program->walk([&](Operation *op) {
      auto axis = op->getAttrOfType<StringAttr>(families::indexAxisAttr);
      if (!axis && op->hasAttr(families::indexStrideAttr)) {
        good = false;
        op->emitOpError(
            "expected dist.index_axis beside dist.index_stride, found none");
      } else if (axis && !splittingAxis(axis.getValue())) {
        good = false;
        op->emitOpError("expected ") << families::indexAxisAttr << " to be "
                                     << splittingAxes() << ", found " << axis;
      }
    });
    return success(good);
  }

  LogicalResult runOnProgram(rt::ProgramOp program) const override {
    if (failed(checkAxes(program)))
      return failure();
    rt::Affine sampleBase = sampleBaseOf(program->getParentOfType<ModuleOp>());
    ParamTable params(program);
    KernelPool pool(&program.getBody().front());
    SmallVector<func::FuncOp> fragments(program.getOps<func::FuncOp>());
    for (func::FuncOp fn : fragments)
      if (auto fragment = pipe::FragmentAttr::of(fn);
          fragment && !fragment.isUpdate() &&
          failed(FragmentFuser(fn, params, pool, sampleBase).run()))
        return failure();
    return success();
  }
};

} // namespace
