//===- random_function.h - functions that no model has ----------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_CODEGEN_RANDOM_FUNCTION_H
#define MTC_TEST_UNIT_CODEGEN_RANDOM_FUNCTION_H

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace mtc::test {

/// An argument of the function: f32 of magnitude 1 at most, or i32 in
/// [0, limit).
struct FunctionInput {
  std::string type;
  int64_t elements = 1;
  int64_t limit = 0; ///< 0: f32
};

/// A value that leaves the function: kept, or added to an accumulator.
struct FunctionOutput {
  bool accumulated = false;
  /// Bound of |result - exact result|, to first order.
  double error = 0;
};

/// One list of tfm ops as a function and as a fragment.
struct RandomFunction {
  std::string function; ///< func.func @name, arguments and results; the last
                        ///< argument is the sample, a tensor<i64>
  std::string fragment; ///< func.func @name_fragment; pipe.saved i is argument
                        ///< i, pipe.save i and parameter "name.i" result i
  std::string params;   ///< rt.param of the accumulators; start is i
  std::vector<FunctionInput> inputs;
  std::vector<FunctionOutput> outputs;
};

/// 4 to 16 pointwise and row-wise ops over a few shapes of up to three odd
/// dimensions, in f32 and bf16. Operands are shared, and results are read
/// inside and outside of what may become a cluster. Layers change now and then.
/// Each op alone fits a kernel. Magnitudes stay small, so that error bounds do.
RandomFunction makeRandomFunction(std::mt19937 &rng, const std::string &name);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_CODEGEN_RANDOM_FUNCTION_H
