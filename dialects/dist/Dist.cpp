//===- Dist.cpp - registration and verifiers of the dist dialect ----------===//
#include "dialects/dist/Dist.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc::dist;

#include "dialects/dist/DistDialect.cpp.inc"
#include "dialects/dist/DistEnums.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/dist/DistOps.cpp.inc"

void DistDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/dist/DistOps.cpp.inc"
      >();
}

MeshAttr mtc::dist::meshOf(Operation *op) {
  auto module =
      isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  return module ? module->getAttrOfType<MeshAttr>(meshAttrName) : MeshAttr();
}

/// A region gives what its terminator names: the value that an op of it made.
static Value throughRegions(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock() ||
        op->getRegion(0).front().empty())
      break;
    Operation &end = op->getRegion(0).front().back();
    if (end.getNumOperands() != op->getNumResults())
      break;
    value = end.getOperand(result.getResultNumber());
  }
  return value;
}

ShardingAttr mtc::dist::shardingOf(Value value) {
  value = throughRegions(value);
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto fn =
        dyn_cast_or_null<FunctionOpInterface>(arg.getOwner()->getParentOp());
    return fn ? fn.getArgAttrOfType<ShardingAttr>(arg.getArgNumber(),
                                                  shardingAttrName)
              : ShardingAttr();
  }
  auto result = cast<OpResult>(value);
  auto all = result.getOwner()->getAttrOfType<ArrayAttr>(shardingsAttrName);
  if (!all || result.getResultNumber() >= all.size())
    return {};
  return dyn_cast<ShardingAttr>(all[result.getResultNumber()]);
}

void mtc::dist::setSharding(Value value, ShardingAttr sharding) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto fn = cast<FunctionOpInterface>(arg.getOwner()->getParentOp());
    fn.setArgAttr(arg.getArgNumber(), shardingAttrName, sharding);
    return;
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  SmallVector<Attribute> all;
  if (auto old = op->getAttrOfType<ArrayAttr>(shardingsAttrName))
    all.assign(old.begin(), old.end());
  while (all.size() < op->getNumResults()) {
    auto type = cast<RankedTensorType>(op->getResult(all.size()).getType());
    all.push_back(ShardingAttr::replicated(op->getContext(), type.getRank()));
  }
  all[result.getResultNumber()] = sharding;
  op->setAttr(shardingsAttrName, ArrayAttr::get(op->getContext(), all));
}

DenseI64ArrayAttr mtc::dist::globalShapeOf(Value value) {
  value = throughRegions(value);
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto fn =
        dyn_cast_or_null<FunctionOpInterface>(arg.getOwner()->getParentOp());
    return fn ? fn.getArgAttrOfType<DenseI64ArrayAttr>(arg.getArgNumber(),
                                                       globalShapeAttrName)
              : DenseI64ArrayAttr();
  }
  auto result = cast<OpResult>(value);
  Operation *op = result.getOwner();
  auto all = op->getAttrOfType<ArrayAttr>(globalShapesAttrName);
  if (!all || all.size() != op->getNumResults())
    return {};
  return dyn_cast<DenseI64ArrayAttr>(all[result.getResultNumber()]);
}

void mtc::dist::copySharding(Value from, Value to) {
  if (ShardingAttr sharding = shardingOf(from))
    setSharding(to, sharding);
  if (DenseI64ArrayAttr shape = globalShapeOf(from))
    to.getDefiningOp()->setAttr(globalShapesAttrName,
                                ArrayAttr::get(to.getContext(), {shape}));
}

LogicalResult ReshardOp::verify() {
  int64_t rank = cast<RankedTensorType>(getX().getType()).getRank();
  if (getFrom() == getTo())
    return emitOpError("expected two shardings that differ, found ")
           << getFrom();
  for (ShardingAttr s : {getFrom(), getTo()})
    if (s.getRank() != rank)
      return emitOpError("expected a sharding of rank ")
             << rank << ", found " << s;
  for (auto [axis, state] : llvm::zip(getTo().getAxes(), getTo().getStates()))
    if (state <= ShardingAttr::kPartial && getFrom().stateOf(axis) != state)
      return emitOpError("expected no new partial value, found one over ")
             << axis;
  return success();
}

/// Checks the mesh axis and, where `dim` >= 0, that `parts` times the size of
/// that dimension of `part` is its size in `whole`, and that all others agree.
static LogicalResult verifyParts(Operation *op, StringRef axis, int64_t dim,
                                 Value whole, Value part) {
  auto mesh = meshOf(op);
  if (mesh && mesh.indexOf(axis) < 0)
    return op->emitOpError("expected an axis of the mesh ")
           << mesh << ", found \"" << axis << "\"";
  auto w = cast<RankedTensorType>(whole.getType());
  auto p = cast<RankedTensorType>(part.getType());
  SmallVector<int64_t> expected(w.getShape());
  if (dim >= 0) {
    if (dim >= w.getRank() || p.getRank() != w.getRank())
      return op->emitOpError("expected dim below rank ")
             << w.getRank() << ", found " << dim;
    int64_t parts = mesh ? mesh.sizeOf(axis) : 0;
    if (parts && p.getDimSize(dim) * parts != w.getDimSize(dim))
      return op->emitOpError("expected dim ")
             << dim << " to be " << w.getDimSize(dim) << " in " << parts
             << " parts over \"" << axis << "\", found " << p.getDimSize(dim);
    expected[dim] = p.getDimSize(dim);
  }
  if (p.getShape() != ArrayRef(expected) ||
      p.getElementType() != w.getElementType())
    return op->emitOpError("expected other dimensions and the element type to "
                           "agree, found ")
           << w << " and " << p;
  return success();
}

LogicalResult AllReduceOp::verify() {
  return verifyParts(*this, getAxis(), -1, getX(), getResult());
}
LogicalResult ReduceScatterOp::verify() {
  return verifyParts(*this, getAxis(), getDim(), getX(), getResult());
}
LogicalResult AllGatherOp::verify() {
  return verifyParts(*this, getAxis(), getDim(), getResult(), getX());
}
LogicalResult SliceOp::verify() {
  return verifyParts(*this, getAxis(), getDim(), getX(), getResult());
}
