//===- Partition.cpp - --partition ----------------------------------------===//
//
// Establishes: all types are local; reshards are collectives; shardings and
// global shapes stay as attributes.
//
//===----------------------------------------------------------------------===//
#include "dialects/tfm/Tfm.h"
#include "passes/Passes.h"
#include "passes/families/FamilyPass.h"
#include "passes/sharding/index_use.h"
#include "passes/sharding/ir_graph.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace mtc::passes {
#define GEN_PASS_DEF_PARTITION
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::sharding;

namespace {

class Partitioner {
public:
  Partitioner(func::FuncOp fn)
      : fn(fn), b(fn.getContext()), mesh(dist::meshOf(fn)) {}

  LogicalResult run() {
    for (BlockArgument arg : fn.getArguments()) {
      fn.setArgAttr(arg.getArgNumber(), dist::globalShapeAttrName,
                    shapeOf(arg));
      if (failed(makeLocal(arg, fn)))
        return failure();
    }
    for (Operation &op :
         llvm::make_early_inc_range(fn.front().without_terminator()))
      if (failed(partition(&op)))
        return failure();
    for (tfm::BroadcastOp wide : narrowed)
      if (wide->use_empty())
        wide.erase();
    fn.setFunctionType(
        b.getFunctionType(fn.front().getArgumentTypes(),
                          fn.front().getTerminator()->getOperandTypes()));
    return success();
  }

private:
  DenseI64ArrayAttr shapeOf(Value value) {
    return b.getDenseI64ArrayAttr(
        cast<RankedTensorType>(value.getType()).getShape());
  }

  /// The local type of `global` under a sharding.
  RankedTensorType localType(Value global, dist::ShardingAttr sharding) {
    auto type = cast<RankedTensorType>(global.getType());
    return type.clone(sharding.localShape(type.getShape(), mesh));
  }

  LogicalResult makeLocal(Value value, Operation *op) {
    dist::ShardingAttr sharding = dist::shardingOf(value);
    if (!sharding)
      return success();
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> parts(type.getRank(), 1);
    for (auto [axis, state] :
         llvm::zip(sharding.getAxes(), sharding.getStates()))
      if (state >= 0)
        parts[state] *= mesh.sizeOf(axis);
    for (auto [dim, n] : llvm::enumerate(parts))
      if (type.getDimSize(dim) % n != 0)
        return op->emitOpError("expected dimension ")
               << dim << " of " << type << " to have equal parts on " << n
               << " ranks (sharding " << sharding
               << "); choose sizes that the mesh axes divide";
    value.setType(localType(value, sharding));
    return success();
  }

  LogicalResult partition(Operation *op) {
    if (auto reshard = dyn_cast<dist::ReshardOp>(op))
      return lowerReshard(reshard);
    if (op->getNumResults() && !op->hasAttr(dist::shardingsAttrName))
      return op->emitOpError("expected ")
             << dist::shardingsAttrName << "; run --propagate-shardings first";
    setGlobalShapes(op);
    for (Value result : op->getResults())
      if (failed(makeLocal(result, op)))
        return failure();
    FailureOr<IndexUse> use = indexUseOf(op, mesh);
    if (failed(use))
      return failure();
    use->writeTo(op);
    return success();
  }

  void setGlobalShapes(Operation *op) {
    SmallVector<Attribute> shapes;
    for (Value result : op->getResults())
      shapes.push_back(shapeOf(result));
    op->setAttr(dist::globalShapesAttrName, b.getArrayAttr(shapes));
  }

  //===--- reshards ---------------------------------------------------===//

  /// Reductions, then gathers from the inner axis outwards, then slices from
  /// the outer axis inwards.
  LogicalResult lowerReshard(dist::ReshardOp op) {
    std::vector<State> from = statesOf(mesh, op.getFrom());
    std::vector<State> to = statesOf(mesh, op.getTo());
    current = op.getX();
    sharding = op.getFrom();
    globalShape = b.getArrayAttr({shapeOf(op.getResult())});
    b.setInsertionPoint(op);
    int64_t n = static_cast<int64_t>(from.size());
    for (int64_t a = 0; a < n; ++a)
      if (isPartial(from[a]) && from[a] != to[a])
        reduce(op, a, from[a], to[a]);
    for (int64_t a = n - 1; a >= 0; --a)
      if (from[a] >= 0 && from[a] != to[a])
        gather(op, a, from[a]);
    for (int64_t a = 0; a < n; ++a)
      if (!isPartial(from[a]) && to[a] >= 0 && from[a] != to[a])
        slice(op, a, to[a]);
    op.getResult().replaceAllUsesWith(current);
    op.erase();
    return success();
  }

  StringAttr axisName(int64_t a) { return mesh.getAxes()[a]; }

  /// Attributes of a new collective, which becomes the current value.
  void finish(Operation *made, dist::ReshardOp op, int64_t a, State state) {
    for (StringRef name : {tfm::layerAttr, tfm::phaseAttr})
      if (Attribute attr = op->getAttr(name))
        made->setAttr(name, attr);
    sharding = sharding.with(mesh, axisName(a), state);
    current = made->getResult(0);
    dist::setSharding(current, sharding);
    made->setAttr(dist::globalShapesAttrName, globalShape);
  }

  RankedTensorType scaled(State dim, int64_t numerator, int64_t denominator) {
    auto type = cast<RankedTensorType>(current.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = shape[dim] * numerator / denominator;
    return type.clone(shape);
  }

  void reduce(dist::ReshardOp op, int64_t a, State from, State to) {
    Location loc = op.getLoc();
    Operation *made;
    if (to >= 0)
      made = dist::ReduceScatterOp::create(
          b, loc, scaled(to, 1, mesh.getSizes()[a]), current, to, axisName(a),
          op.getOrigin(), op.getServes());
    else
      made = dist::AllReduceOp::create(
          b, loc, current.getType(),
          from == kMax ? dist::ReduceKind::Max : dist::ReduceKind::Sum, current,
          axisName(a), op.getOrigin(), op.getServes());
    finish(made, op, a, to);
  }

  void gather(dist::ReshardOp op, int64_t a, State dim) {
    auto made = dist::AllGatherOp::create(
        b, op.getLoc(), scaled(dim, mesh.getSizes()[a], 1), current, dim,
        axisName(a), op.getOrigin(), op.getServes());
    finish(made, op, a, kReplicated);
  }

  /// The local part of a broadcast along a new dimension is a smaller
  /// broadcast: the full tensor is never made.
  bool narrowBroadcast(dist::ReshardOp op, int64_t a, State dim) {
    auto wide = current.getDefiningOp<tfm::BroadcastOp>();
    if (!wide || llvm::is_contained(wide.getDims(), dim))
      return false;
    auto narrow = tfm::BroadcastOp::create(b, op.getLoc(),
                                           scaled(dim, 1, mesh.getSizes()[a]),
                                           wide.getX(), wide.getDimsAttr());
    finish(narrow, op, a, dim);
    narrowed.insert(wide);
    return true;
  }

  void slice(dist::ReshardOp op, int64_t a, State dim) {
    if (narrowBroadcast(op, a, dim))
      return;
    auto made = dist::SliceOp::create(b, op.getLoc(),
                                      scaled(dim, 1, mesh.getSizes()[a]),
                                      current, dim, axisName(a));
    finish(made, op, a, dim);
  }

  func::FuncOp fn;
  OpBuilder b;
  dist::MeshAttr mesh;
  Value current; ///< of the reshard that is being lowered
  dist::ShardingAttr sharding;
  ArrayAttr globalShape;
  llvm::SetVector<tfm::BroadcastOp> narrowed; ///< erased at the end if unused
};

struct PartitionPass
    : mtc::passes::FamilyPass<passes::impl::PartitionBase<PartitionPass>> {
  void runPhase() override {
    auto run = [](func::FuncOp fn) { return Partitioner(fn).run(); };
    if (failed(onMicrobatches(getOperation(), run)))
      signalPassFailure();
  }
};

} // namespace
