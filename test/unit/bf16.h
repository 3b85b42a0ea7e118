//===- bf16.h - bf16 values of tests ----------------------------*- C++ -*-===//
//
// Shares no code with the library: rounding asks which neighbour is nearer.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_UNIT_BF16_H
#define MTC_TEST_UNIT_BF16_H

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

inline std::vector<float> roundedToBf16(std::vector<float> values) {
  for (float &x : values)
    x = bf16Value(nearestBf16(x));
  return values;
}

/// The values as a call gets them: elements of `dtype`, F32 or BF16.
inline std::vector<std::byte> storedAs(MtcDtype dtype,
                                       const std::vector<float> &values) {
  size_t width = dtype == MTC_BF16 ? 2 : 4;
  std::vector<std::byte> bytes(values.size() * width);
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half = dtype == MTC_BF16 ? nearestBf16(values[i]) : uint16_t(0);
    std::memcpy(&bytes[i * width],
                dtype == MTC_BF16 ? (const void *)&half : &values[i], width);
  }
  return bytes;
}

/// And back.
inline std::vector<float> valuesOf(MtcDtype dtype,
                                   const std::vector<std::byte> &bytes) {
  size_t width = dtype == MTC_BF16 ? 2 : 4;
  std::vector<float> values(bytes.size() / width);
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t half = 0;
    if (dtype == MTC_BF16)
      std::memcpy(&half, &bytes[i * 2], 2);
    else
      std::memcpy(&values[i], &bytes[i * 4], 4);
    if (dtype == MTC_BF16)
      values[i] = bf16Value(half);
  }
  return values;
}

} // namespace mtc::test
#endif // MTC_TEST_UNIT_BF16_H
