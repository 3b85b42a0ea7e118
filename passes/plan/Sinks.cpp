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

Type accumulatorType(Operation *sink, const ParamTable &params) {
  auto gradient = dyn_cast<pipe::AccumulateOp>(sink);
  const ParamSlot *slot =
      gradient ? params.find(gradient.getParam(), gradient.getUse()) : nullptr;
  return slot ? slot->gradType : Float32Type::get(sink->getContext());
}

Accumulators::Accumulators(func::FuncOp fn, const ParamTable &params)
    : fn(fn), params(params) {
  for (Operation &op : fn.getBody().front()) {
    auto ref = dyn_cast<rt::RefOp>(op);
    if (!ref)
      break;
    if (ref.getParam())
      refs.try_emplace({{ref.getParam()->str(), *ref.getUse()}}, ref);
    else if (ref.getKind() == rt::RefKind::Loss)
      refs.try_emplace(std::nullopt, ref);
  }
}

Accumulators::Key Accumulators::keyOf(Operation *sink) {
  auto gradient = dyn_cast<pipe::AccumulateOp>(sink);
  if (!gradient)
    return std::nullopt;
  return {{gradient.getParam().str(), gradient.getUse()}};
}

LogicalResult Accumulators::makeFor(Operation *sink) {
  Key key = keyOf(sink);
  if (key && !params.find(key->first, key->second))
    return sink->emitOpError("expected a bucket for use ")
           << key->second << " of the parameter \"" << key->first
           << "\", found none in this program";
  Value &ref = refs[key];
  auto type = cast<RankedTensorType>(sink->getOperand(0).getType());
  if (ref && cast<ShapedType>(ref.getType()).getShape() != type.getShape())
    return sink->emitOpError("expected a value of the accumulator's shape, ")
           << ref.getType() << ", found " << type;
  if (ref)
    return success();
  OpBuilder b = OpBuilder::atBlockBegin(&fn.getBody().front());
  ref = rt::RefOp::create(
      b, sink->getLoc(),
      MemRefType::get(type.getShape(), accumulatorType(sink, params)),
      key ? rt::RefKind::Grad : rt::RefKind::Loss, StringAttr(), IntegerAttr(),
      IntegerAttr(), key ? b.getStringAttr(key->first) : StringAttr(),
      key ? b.getI64IntegerAttr(key->second) : IntegerAttr());
  return success();
}

LogicalResult Accumulators::make() {
  WalkResult walked = fn.walk([&](Operation *sink) {
    return isSink(sink) && failed(makeFor(sink)) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
  });
  return success(!walked.wasInterrupted());
}

Value Accumulators::of(Operation *sink) const {
  auto it = refs.find(keyOf(sink));
  return it == refs.end() ? Value() : it->second;
}

} // namespace mtc::passes
