//===- util.h - small helpers of the family files ---------------*- C++ -*-===//
#ifndef MTC_PASSES_FAMILIES_UTIL_H
#define MTC_PASSES_FAMILIES_UTIL_H

#include "passes/families/kernel_body.h"

namespace mtc::families {

inline mlir::RankedTensorType typeOf(mlir::Value v) {
  return mlir::cast<mlir::RankedTensorType>(v.getType());
}
inline int64_t rankOf(mlir::Value v) { return typeOf(v).getRank(); }

/// The rule of an op that works on each element: all shapes are equal, and the
/// operand groups `linear` may be partial.
inline RuleFn elementwiseRule(std::vector<std::vector<int>> linear) {
  return [linear](mlir::Operation *op) {
    ShardingRule rule;
    std::string all = letters(rankOf(op->getResult(0)));
    rule.operands.assign(op->getNumOperands(), all);
    rule.results.assign(op->getNumResults(), all);
    rule.linear = linear;
    return rule;
  };
}

/// dy · factor.
inline mlir::Value scaled(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                          double factor) {
  return tfm::ScaleOp::create(b, loc, x.getType(), x,
                              b.getF64FloatAttr(factor));
}

} // namespace mtc::families
#endif // MTC_PASSES_FAMILIES_UTIL_H
