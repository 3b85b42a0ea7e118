//===- limits.h - what this processor can do at most ------------*- C++ -*-===//
#ifndef MTC_RUNTIME_PROFILE_LIMITS_H
#define MTC_RUNTIME_PROFILE_LIMITS_H

#include <cstdint>
#include <string_view>

namespace mtc::runtime {

/// A second, of some threads together.
struct MachineLimits {
  double f32 = 0;  ///< FLOPs of fused multiply-adds
  double bf16 = 0; ///< of dot products of bf16, or by tiles; 0: none
  double copy = 0; ///< bytes of a copy, read and written

  /// FLOPs of products of such factors, by their name in IR; what the
  /// processor has no products for is widened to f32.
  double flops(std::string_view factors) const {
    return factors == "bf16" && bf16 > 0 ? bf16 : f32;
  }
  /// Those of each of so many ranks.
  MachineLimits ofEach(double ranks) const {
    return {f32 / ranks, bf16 / ranks, copy / ranks};
  }
};

/// Measures them, by instructions of `isa` (empty: all that the processor has),
/// which the processor must have: sums in registers alone, and a copy of arrays
/// far larger than caches, 512 MB in all. The best of several repeats; takes a
/// second or two. Throws std::bad_alloc where memory lacks.
MachineLimits measureLimits(int threads, std::string_view isa = {});

/// Multiplies bf16 by tiles for so many rounds, in registers alone, on this
/// thread, whose processor must have AMX (processorHas of isa.h). Returns
/// FLOPs.
double multiplyInTiles(int64_t rounds);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROFILE_LIMITS_H
