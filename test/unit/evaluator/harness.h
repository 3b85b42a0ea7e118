//===- harness.h - IR and inputs for the evaluator's tests ------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_EVALUATOR_HARNESS_H
#define MTC_TEST_UNIT_EVALUATOR_HARNESS_H

#include "test/evaluator/evaluate.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <random>
#include <string>

namespace mtc::test {

/// A context with func, tfm and dist loaded, shared by the tests of a binary.
mlir::MLIRContext &context();

/// Parses a module; prints diagnostics and gives null if it is not valid.
mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text);
/// The only function of a module.
mlir::func::FuncOp functionOf(mlir::ModuleOp module);
/// The only op of a one-op function.
mlir::Operation *onlyOp(mlir::func::FuncOp fn);

/// Reproducible inputs: mt19937_64 is fixed by the standard, its distributions
/// are not, so numbers are made from its words.
class Inputs {
public:
  explicit Inputs(uint64_t seed) : engine(seed) {}
  double uniform(double low, double high);
  /// Random elements for argument `i`: reals in [-1.5, 1.5), or in [0.5, 1.5)
  /// with argument attribute `in.positive`; integers below `in.below`, or 41
  /// without it (a sample base).
  eval::Tensor argument(mlir::func::FuncOp fn, unsigned i);
  std::vector<eval::Tensor> arguments(mlir::func::FuncOp fn);
  eval::Tensor reals(const eval::Shape &shape, double low, double high);

private:
  std::mt19937_64 engine;
};

/// A step block with a value for every field; nothing is 0 or 1.
eval::StepBlock stepBlock();

} // namespace mtc::test
#endif // MTC_TEST_UNIT_EVALUATOR_HARNESS_H
