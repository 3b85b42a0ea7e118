//===- read_fragment.h - what one fragment costs ----------------*- C++ -*-===//
#ifndef MTC_COMPILER_READ_FRAGMENT_H
#define MTC_COMPILER_READ_FRAGMENT_H

#include "compiler/plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc::compiler {

/// Reads a fragment: its collectives in order with the bytes
/// of their buffers on one rank, what its calls compute and move, and the
/// floating-point operations of those that are products and attention.
PlanFragment readFragment(mlir::func::FuncOp function,
                          const PlanConfig &config);

} // namespace mtc::compiler
#endif // MTC_COMPILER_READ_FRAGMENT_H
