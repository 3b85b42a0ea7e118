//===- util.h - small helpers of the family files ---------------*- C++ -*-===//
#ifndef MTC_PASSES_FAMILIES_UTIL_H
#define MTC_PASSES_FAMILIES_UTIL_H

#include "passes/families/models.h"

namespace mtc::families {

inline mlir::RankedTensorType typeOf(mlir::Value v) {
  return mlir::cast<mlir::RankedTensorType>(v.getType());
}
inline int64_t rankOf(mlir::Value v) { return typeOf(v).getRank(); }

/// The rule of an op that works on each element: all shapes are equal, and the
/// operand groups `linear` may be partial.
inline ShardingRule elementwise(mlir::Operation *op,
                                std::vector<std::vector<int>> linear) {
  std::string all = factors(rankOf(op->getResult(0)));
  return {.operands = std::vector(op->getNumOperands(), all),
          .results = std::vector(op->getNumResults(), all),
          .linear = std::move(linear)};
}
/// The same, linear in no operand, or in the first alone.
inline ShardingRule nonlinear(mlir::Operation *op) {
  return elementwise(op, {});
}
inline ShardingRule linearInFirst(mlir::Operation *op) {
  return elementwise(op, {{0}});
}

/// The gradient of an op through which nothing flows.
inline Values noCotangents(mlir::OpBuilder &, mlir::Operation *op,
                           mlir::ValueRange) {
  return Values(op->getNumOperands());
}

/// The body of an op that moves elements: the generator addresses each value by
/// its own shape, and rounds to its type.
inline Values sameElement(BodyContext &, mlir::Operation *,
                          mlir::ValueRange x) {
  return {x[0]};
}

/// dy · factor.
inline mlir::Value scaled(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                          double factor) {
  return tfm::ScaleOp::create(b, loc, x.getType(), x,
                              b.getF64FloatAttr(factor));
}

} // namespace mtc::families
#endif // MTC_PASSES_FAMILIES_UTIL_H
