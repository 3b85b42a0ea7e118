//===- Empty.h - destinations that hold nothing yet -------------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_EMPTY_H
#define MTC_PASSES_PLAN_EMPTY_H

#include "mlir/IR/Builders.h"

namespace mtc::passes {

/// What a new value is written into: a tensor.empty of `type`, a ranked tensor
/// of static shape. It has no bytes; plan-memory gives them to the value.
mlir::Value emptyOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type);

/// True for the result of a tensor.empty.
bool isEmpty(mlir::Value value);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_EMPTY_H
