//===- norm_values.h - what the tests of the norm are given -----*- C++ -*-===//
#ifndef MTC_TEST_CUDA_NORM_NORM_VALUES_H
#define MTC_TEST_CUDA_NORM_NORM_VALUES_H

#include "runtime/kernels/cpu/norm.h"
#include "test/cuda/ptx/module.h"

#include <cstddef>
#include <limits>
#include <vector>

namespace mtc::test {

inline constexpr float kLargest = std::numeric_limits<float>::max();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// norm.ptx, and what all of a run follows from; both are there before tests.
extern const ptx::Module *normModule;
extern uint64_t normSeed;

uint64_t someSeed(); ///< any 64 bits
size_t below(size_t count);
uint32_t someBlocks();

/// How the magnitudes of a case are spread.
enum class Kind { gaussian, wide, subnormal, huge, sparse, bits, count };

float valueOf(Kind kind); ///< finite
std::vector<float> valuesOf(Kind kind, size_t count);

/// As a sum is between calls, many of its bits ones, so that carries go far.
runtime::NormSum someSum();
runtime::NormSum notFinite();

} // namespace mtc::test
#endif // MTC_TEST_CUDA_NORM_NORM_VALUES_H
