//===- half.h - values of 16 bits in tests ----------------------*- C++ -*-===//
//
// Shares no code with the library: bf16 asks which neighbour is nearer, f16 is
// taken from the definition of binary16.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_UNIT_HALF_H
#define MTC_TEST_UNIT_HALF_H

#include "mtc/runtime/abi.h"

#include <algorithm>
#include <bit>
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
  // Of random values no processor guesses a branch.
  int up = int(above < below) | (int(above == below) & down & 1);
  return uint16_t(down + up);
}

/// 2^exponent of a normal double, without a call of a library: tests convert
/// many millions of values.
inline double powerOfTwo(int exponent) {
  return std::bit_cast<double>(uint64_t(exponent + 1023) << 52);
}

inline float f16Value(uint16_t half) {
  int exponent = half >> 10 & 31, fraction = half & 0x3ff;
  int digits = exponent == 0 ? fraction : 1024 + fraction;
  auto size = float(digits * powerOfTwo(std::max(exponent, 1) - 25));
  if (exponent == 31)
    size = fraction ? NAN : INFINITY;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(size) |
                              uint32_t(half & 0x8000) << 16);
}

/// To nearest, ties to even.
inline uint16_t nearestF16(float value) {
  auto sign = uint16_t(std::bit_cast<uint32_t>(value) >> 16 & 0x8000);
  double size = std::fabs(double(value));
  if (std::isnan(value))
    return 0x7e00;
  if (size >= 65520)
    return sign | 0x7c00;
  // In units of the last place, of which subnormals have that of 2^-14.
  int exponent = std::max(int(std::bit_cast<uint64_t>(size) >> 52) - 1023, -14);
  // Doubles from 2^52 on are integers: the addition rounds.
  double units = (size * powerOfTwo(10 - exponent) + 0x1p52) - 0x1p52;
  return uint16_t(sign | (int(units) + ((exponent + 14) << 10)));
}

constexpr bool isHalf(MtcDtype dtype) {
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
  if (bytes.empty())
    return bytes;
  if (!isHalf(dtype)) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half = nearestHalf(dtype, values[i]);
    std::memcpy(&bytes[i * 2], &half, 2);
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
