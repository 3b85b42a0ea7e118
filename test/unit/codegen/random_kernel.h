//===- random_kernel.h - kernels that no model has --------------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_CODEGEN_RANDOM_KERNEL_H
#define MTC_TEST_UNIT_CODEGEN_RANDOM_KERNEL_H

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace mtc::test {

struct RandomKernel {
  std::string text;           ///< rt.kernel in MLIR
  int64_t rows = 1, cols = 1; ///< the shape to run it with
  bool dynamic = false;       ///< cols is an argument
  /// For each operand: the input whose memory it shares (in place), or -1.
  std::vector<int> sharesWith;
  std::vector<bool> written;
};

/// A kernel named `name`: 5 to 25 operations, reductions nested up to three
/// deep, all modes. Magnitudes stay far from overflow, and comparisons of
/// floats only choose between equal values at their tie, so that fp32 and
/// double take the same way.
RandomKernel makeRandomKernel(std::mt19937 &rng, const std::string &name);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_CODEGEN_RANDOM_KERNEL_H
