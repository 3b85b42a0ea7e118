//===- norm_sum.h - what sums of squares are made of ------------*- C++ -*-===//
//
// Internal to norm.cpp and norm_counter.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_NORM_SUM_H
#define MTC_RUNTIME_KERNELS_CPU_NORM_SUM_H

#include "runtime/kernels/cpu/norm.h"
#include "runtime/kernels/cpu/team.h"

namespace mtc::runtime {

/// The exponent of the last bit of a sum, and so of what a position counts
/// from.
inline constexpr int kNormUnit = -298;

/// Makes a sum not finite.
void poison(NormSum &sum);

/// Adds digit·2^position; |digit| < 2^63. Limbs may become negative or large:
/// settle() follows.
void addDigit(NormSum &sum, int64_t digit, int position);

/// Carries, so that each limb but the last is in [0, 2^64).
void settle(NormSum &sum);

/// Adds what one thread has made.
void addSum(NormSum &to, const NormSum &from);

/// Adds the squares of a part of g, and settles; a value that is not finite
/// poisons the sum.
void addFloats(NormSum &sum, const float *g, Part part);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_NORM_SUM_H
