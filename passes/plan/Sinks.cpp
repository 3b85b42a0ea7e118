//===- Sinks.cpp - what is added to accumulators --------------------------===//
#include "passes/plan/Sinks.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mtc;

namespace mtc::passes {

bool isSink(Operation *op) { return isa<pipe::AccumulateOp, pipe::LossOp>(op); }

Operation *soleSink(Value value) {
  if (!value.hasOneUse())
    return nullptr;
  Operation *user = *value.user_begin();
  return isSink(user) ? user : nullptr;
}

Accumulators::Accumulators(func::FuncOp fn, const ParamTable &params)
    : fn(fn), params(params) {
  for (Operation &op : fn.getBody().front()) {
    auto ref = dyn_cast<rt::RefOp>(op);
    if (!ref)
      break;
    refs.try_emplace(
        {ref.getKind(), ref.getBucket().value_or(0), ref.getStart()}, ref);
  }
}

std::optional<Accumulators::Placement>
Accumulators::placementOf(Operation *sink) const {
  auto gradient = dyn_cast<pipe::AccumulateOp>(sink);
  if (!gradient)
    return Placement{rt::RefKind::Loss, 0, 0};
  const ParamSlot *slot = params.find(gradient.getParam(), gradient.getUse());
  if (!slot)
    return std::nullopt;
  return Placement{rt::RefKind::Grad, slot->bucket, slot->start};
}

LogicalResult Accumulators::makeAt(const Placement &placement,
                                   Operation *sink) {
  Value &ref = refs[placement];
  auto type = cast<RankedTensorType>(sink->getOperand(0).getType());
  if (ref && cast<ShapedType>(ref.getType()).getShape() != type.getShape())
    return sink->emitOpError("expected a value of the accumulator's shape, ")
           << ref.getType() << ", found " << type;
  if (ref)
    return success();
  OpBuilder b = OpBuilder::atBlockBegin(&fn.getBody().front());
  auto [kind, bucket, start] = placement;
  bool ofBucket = kind != rt::RefKind::Loss;
  ref = rt::RefOp::create(
      b, sink->getLoc(), MemRefType::get(type.getShape(), b.getF32Type()), kind,
      StringAttr(), ofBucket ? b.getI64IntegerAttr(bucket) : IntegerAttr(),
      start);
  return success();
}

LogicalResult Accumulators::make() {
  WalkResult walked = fn.walk([&](Operation *sink) {
    if (!isSink(sink))
      return WalkResult::advance();
    std::optional<Placement> placement = placementOf(sink);
    if (!placement) {
      auto gradient = cast<pipe::AccumulateOp>(sink);
      sink->emitOpError("expected a bucket for use ")
          << gradient.getUse() << " of the parameter \"" << gradient.getParam()
          << "\", found none in this program";
      return WalkResult::interrupt();
    }
    return failed(makeAt(*placement, sink)) ? WalkResult::interrupt()
                                            : WalkResult::advance();
  });
  return success(!walked.wasInterrupted());
}

Value Accumulators::of(Operation *sink) const {
  std::optional<Placement> placement = placementOf(sink);
  auto it = placement ? refs.find(*placement) : refs.end();
  return it == refs.end() ? Value() : it->second;
}

} // namespace mtc::passes
