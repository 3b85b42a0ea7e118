//===- norm.h - the order-free global gradient norm -------------*- C++ -*-===//
//
// docs/numerics.md: every square is rounded once, to nearest even, to a
// multiple of 2^-92 and added as an integer. Integer sums do not depend on
// order, so any partition of the gradients gives the same 128 bits.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_NORM_H
#define MTC_RUNTIME_KERNELS_CPU_NORM_H

#include <cstdint>

namespace mtc::runtime {

/// A sum of squares in units of 2^-92; 2^127 - 1 means "not finite". That state
/// is absorbing, and overflow leads to it whatever the order, because all terms
/// are non-negative. So sums cross ranks as one MTC_I128, whose reduction
/// saturates.
struct NormSum {
  static constexpr __int128 kNotFinite =
      __int128((static_cast<unsigned __int128>(1) << 127) - 1);
  __int128 units = 0;
  bool finite() const { return units != kNotFinite; }
  bool operator==(const NormSum &) const = default;
};

/// Adds the squares of g[0, count). A non-finite value or |g| >= 2^17 makes the
/// sum not finite. Same bits before and after mtc_kernels_select_isa.
void normAccumulate(NormSum &sum, const float *g, int64_t count);

/// sum += other.
void normCombine(NormSum &sum, const NormSum &other);

/// sqrt(double(units)·2^-92), or +inf if the sum is not finite.
double normValue(const NormSum &sum);

/// min(1, threshold / (norm + 1e-6)) in double, rounded to fp32; 1 if
/// threshold <= 0 (no clipping).
float clipCoefficient(double norm, double threshold);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_NORM_H
