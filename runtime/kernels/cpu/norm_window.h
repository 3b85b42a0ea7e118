//===- norm_window.h - squares of values of one unit ------------*- C++ -*-===//
//
// Internal. Values that are multiples of one unit, a power of two, and less
// than 2^52 of it are integers of 52 bits, whose products AVX-512 IFMA adds up
// exactly, low and high halves apart. Included by objects built for one
// instruction set, so it defines no inline function (kernel_table.h says why).
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_NORM_WINDOW_H
#define MTC_RUNTIME_KERNELS_CPU_NORM_WINDOW_H

#include <cstdint>

namespace mtc::runtime {

/// So many values, eight at a time, may be counted in one window: sums of a
/// lane stay below 2^63.
inline constexpr int64_t kWindowValues = 8 * 2048;

/// Sums of squares of 52 bits in units of the square of a unit, by lane: bits 0
/// to 51, and those from 52 on.
struct alignas(64) NormHalves {
  uint64_t low[8], high[8];
};

/// Values from 2^23 units on, and zero, are multiples of the unit, and counted
/// in `usual`; smaller ones in `small`, whose unit is a smaller one. Bounds are
/// bits of magnitudes.
struct alignas(64) NormWindow {
  NormHalves usual, small;
  uint32_t largest[16]; ///< bits of magnitudes, by lane
  /// 2^52 units: |x| + magnet has |x|, in units, in its fraction.
  double usualMagnet, smallMagnet;
  uint32_t end;        ///< 2^52 units
  uint32_t leastUsual; ///< 2^23 units
  uint32_t leastSmall; ///< 2^23 small units, or 0
  bool isOut; ///< some value is in neither: what the sums are is of no use
};

/// Values of a vector.
inline constexpr int64_t kWindowVector = 16;

/// Adds the squares of values in memory, of whole vectors, to a window. The
/// processor must have the instructions: NormCounter::hasWindows.
void fillWindow(NormWindow &to, const float *at, int64_t vectors);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_NORM_WINDOW_H
