//===- half.h - values of 16 bits in tests ----------------------*- C++ -*-===//
//
// Shares no code with the library: bf16 asks which neighbour is nearer, f16 is
// taken from the definition of binary16.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_UNIT_HALF_H
#define MTC_TEST_UNIT_HALF_H

#include "mtc/runtime/abi.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

namespace mtc::test {

inline float bf16Value(uint16_t half) {
  uint32_t bits = uint32_t(half) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

/// To nearest, ties to even, for values inside the range of bf16 and NaN.
inline uint16_t nearestBf16(float value) {
  if (std::isnan(value))
    return 0x7fc0;
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  uint16_t down = uint16_t(bits >> 16);
  double below = std::fabs(double(value) - bf16Value(down));
  double above = std::fabs(double(bf16Value(uint16_t(down + 1))) - value);
  bool up = above < below || (above == below && (down & 1));
  return uint16_t(down + up);
}

inline float f16Value(uint16_t half) {
  int exponent = half >> 10 & 31, fraction = half & 0x3ff;
  float size = exponent == 31 ? (fraction ? NAN : INFINITY)
               : exponent == 0
                   ? std::ldexp(float(fraction), -24)
                   : std::ldexp(float(1024 + fraction), exponent - 25);
  return half & 0x8000 ? -size : size;
}

/// To nearest, ties to even.
inline uint16_t nearestF16(float value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double size = std::fabs(double(value));
  if (std::isnan(value))
    return 0x7e00;
  if (size >= 65520)
    return sign | 0x7c00;
  // In units of the last place, of which subnormals have that of 2^-14.
  int exponent = size < 0x1p-14 ? -14 : std::ilogb(size);
  auto units = int(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return uint16_t(sign | (units + ((exponent + 14) << 10)));
}

inline bool isHalf(MtcDtype dtype) {
  return dtype == MTC_BF16 || dtype == MTC_F16;
}
inline float halfValue(MtcDtype dtype, uint16_t half) {
  return dtype == MTC_F16 ? f16Value(half) : bf16Value(half);
}
inline uint16_t nearestHalf(MtcDtype dtype, float value) {
  return dtype == MTC_F16 ? nearestF16(value) : nearestBf16(value);
}
/// The most by which a number of size 1 is rounded: half a unit of 8 or of 11
/// significant bits.
inline double roundoffOf(MtcDtype dtype) {
  return dtype == MTC_F16 ? 0x1p-11 : 0x1p-8;
}

/// The values, if `dtype` has 16 bits rounded to it.
inline std::vector<float> roundedTo(MtcDtype dtype, std::vector<float> values) {
  if (isHalf(dtype))
    for (float &x : values)
      x = halfValue(dtype, nearestHalf(dtype, x));
  return values;
}

/// The values as a call gets them: elements of `dtype`, a float type.
inline std::vector<std::byte> storedAs(MtcDtype dtype,
                                       const std::vector<float> &values) {
  size_t width = isHalf(dtype) ? 2 : 4;
  std::vector<std::byte> bytes(values.size() * width);
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half = isHalf(dtype) ? nearestHalf(dtype, values[i]) : uint16_t(0);
    std::memcpy(&bytes[i * width],
                isHalf(dtype) ? (const void *)&half : &values[i], width);
  }
  return bytes;
}

/// And back.
inline std::vector<float> valuesOf(MtcDtype dtype,
                                   const std::vector<std::byte> &bytes) {
  size_t width = isHalf(dtype) ? 2 : 4;
  std::vector<float> values(bytes.size() / width);
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half = 0;
    std::memcpy(isHalf(dtype) ? (void *)&half : &values[i], &bytes[i * width],
                width);
    if (isHalf(dtype))
      values[i] = halfValue(dtype, half);
  }
  return values;
}

} // namespace mtc::test
#endif // MTC_TEST_UNIT_HALF_H
