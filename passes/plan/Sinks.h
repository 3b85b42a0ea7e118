//===- Sinks.h - what is added to accumulators ------------------*- C++ -*-===//
#ifndef MTC_PASSES_PLAN_SINKS_H
#define MTC_PASSES_PLAN_SINKS_H

#include "dialects/rt/Rt.h"
#include "passes/plan/Params.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <optional>
#include <string>

namespace mtc::passes {

/// An op that adds its operand to an accumulator: pipe.accumulate, pipe.loss.
bool isSink(mlir::Operation *op);

/// The sink that is the only reader of `value`, or null. The producer of such a
/// value may add to the accumulator itself, if it is a GEMM, or a sum over rows
/// and the accumulator is f32.
mlir::Operation *soleSink(mlir::Value value);

/// The type of the accumulator that a sink adds to: its bucket's for gradients
/// (f32 if it has none), f32 for the loss.
mlir::Type accumulatorType(mlir::Operation *sink, const ParamTable &params);

/// The accumulators of a fragment: one rt.ref each, before all other ops.
class Accumulators {
public:
  /// Takes those that the fragment has. `params` are the program's, and live
  /// longer.
  Accumulators(mlir::func::FuncOp fn, const ParamTable &params);
  /// Makes those of all sinks of the fragment, in their order. Fails after a
  /// diagnostic on a sink whose parameter has no bucket, or whose value has
  /// another shape than what is there.
  mlir::LogicalResult make();
  /// That of a sink; null for one that `make` has not seen.
  mlir::Value of(mlir::Operation *sink) const;

private:
  /// A parameter and a use; the loss has none.
  using Key = std::optional<std::pair<std::string, int64_t>>;
  static Key keyOf(mlir::Operation *sink);
  mlir::LogicalResult makeFor(mlir::Operation *sink);

  mlir::func::FuncOp fn;
  const ParamTable &params;
  std::map<Key, mlir::Value> refs;
};

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_SINKS_H
