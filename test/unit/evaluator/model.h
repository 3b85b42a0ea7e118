//===- model.h - whole tiny models for the evaluator's tests ----*- C++ -*-===//
#ifndef MTC_TEST_UNIT_EVALUATOR_MODEL_H
#define MTC_TEST_UNIT_EVALUATOR_MODEL_H

#include "test/unit/evaluator/harness.h"

#include "models/spec.h"
#include "models/strategy.h"

namespace mtc::test {

/// A GPT of hidden size 8 that differs from the plain one by its name: "tied",
/// "untied", "sepqkv" (separate projections), "grouped" (two queries per key
/// head, relu), "bare" (no biases, no dropout, not causal, one layer),
/// "documents" (positions, attention and loss know them).
struct Variant {
  std::string name;
  models::ModelSpec spec;
  bool documents = false;
};
inline void PrintTo(const Variant &variant, std::ostream *out) {
  *out << variant.name;
}
std::vector<Variant> variants();

/// One microbatch of 4 samples of 4 positions, spread over dp and cp.
models::Strategy tinyStrategy(int64_t dp = 1, int64_t tp = 1, int64_t cp = 1);

mlir::OwningOpRef<mlir::ModuleOp> import(const Variant &variant,
                                         models::Strategy strategy);
mlir::func::FuncOp microbatch(mlir::ModuleOp module);
/// Runs the pass; false if it fails.
bool differentiate(mlir::ModuleOp module);

/// Ids and labels below the model's vocabulary, documents that begin at or
/// before each token, sample base 41, parameters and weights in [-0.5, 0.5),
/// scales of norms in [0.5, 1.5).
std::vector<eval::Tensor> modelInputs(mlir::func::FuncOp fn,
                                      const models::ModelSpec &spec);

/// Name of the parameter that argument `i` is; empty if it is none.
std::string parameterName(mlir::func::FuncOp fn, unsigned i);
/// Gradients by parameter: the sum over all uses.
std::map<std::string, eval::Tensor>
gradientsByName(mlir::func::FuncOp fn,
                const std::vector<eval::Tensor> &results);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_EVALUATOR_MODEL_H
