//===- norm.h - the order-free global gradient norm -------------*- C++ -*-===//
//
// docs/numerics.md: the sum of squares is kept exactly, as one integer in units
// of 2^-298, the square of the smallest fp32 value. So it depends neither on
// order nor on the partition of the gradients, whatever their sizes.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_NORM_H
#define MTC_RUNTIME_KERNELS_CPU_NORM_H

#include "mtc/runtime/abi.h"

#include <cstdint>

namespace mtc::runtime {

/// Sum of limb[i]·2^(64·i) in units of 2^-298. Between calls each limb but the
/// last is in [0, 2^64): so 2^63 ranks can be added limb by limb, as MTC_I128,
/// without a carry. A square is below 2^554 units and so adds less than 2^42 to
/// the last limb: 2^85 of them fit, and no sum of finite values overflows.
struct NormSum {
  static constexpr int kLimbs = MTC_NORM_LIMBS;
  /// In the last limb: the sum is not finite. Absorbing, here and in a
  /// reduction that saturates, because the last limb is never negative.
  static constexpr __int128 kNotFinite =
      __int128((static_cast<unsigned __int128>(1) << 127) - 1);
  __int128 limb[kLimbs] = {};
  bool finite() const { return limb[kLimbs - 1] != kNotFinite; }
  bool operator==(const NormSum &) const = default;
};

/// Adds the squares of g[0, count), exactly; a value that is not finite makes
/// the sum not finite. Same bits before and after mtc_kernels_select_isa, and
/// on any number of threads.
void normAccumulate(NormSum &sum, const float *g, int64_t count,
                    int64_t threads = 1);

/// The same of values of a float type of 16 bits.
void normAccumulateHalf(NormSum &sum, MtcDtype dtype, const uint16_t *g,
                        int64_t count, int64_t threads = 1);

/// Adds nothing, but a value of x[0, count) that is not finite makes the sum
/// not finite.
void normCheck(NormSum &sum, const float *x, int64_t count,
               int64_t threads = 1);

/// The root of the sum, which is rounded to double once (to nearest, ties to
/// even) before; +inf if it is not finite. The limbs may be sums over ranks.
double normValue(const NormSum &sum);

/// min(1, threshold / (norm + 1e-6)), or 1 if threshold <= 0 (no clipping), of
/// gradients with this norm, times `unscale`, which makes those that are kept
/// of them: in double, rounded to fp32 once.
float clipCoefficient(double norm, double threshold, double unscale = 1);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_NORM_H
