//===- Empty.cpp - destinations that hold nothing yet ---------------------===//
#include "passes/plan/Empty.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace mtc::passes {

Value emptyOf(OpBuilder &b, Location loc, Type type) {
  auto ranked = cast<RankedTensorType>(type);
  return tensor::EmptyOp::create(b, loc, ranked.getShape(),
                                 ranked.getElementType());
}

bool isEmpty(Value value) {
  return isa_and_nonnull<tensor::EmptyOp>(value.getDefiningOp());
}

} // namespace mtc::passes
