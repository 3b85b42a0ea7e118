//===- f16_test.cpp - half precision and fp32 -----------------------------===//

#include "runtime/base/f16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mtc::runtime::test {
namespace {

float asFloat(uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// By the definition of binary16.
double valueOf(uint16_t half) {
  int exponent = half >> 10 & 31, fraction = half & 0x3ff;
  double size = exponent == 0 ? std::ldexp(fraction, -24)
                              : std::ldexp(1024 + fraction, exponent - 25);
  return half & 0x8000 ? -size : size;
}

constexpr uint16_t kInfinity = 0x7c00;

TEST(F16, WideningIsExactAndRoundingUndoesIt) {
  for (uint32_t half = 0; half <= 0xffff; ++half) {
    float wide = widenF16(uint16_t(half));
    bool isNan = (half & 0x7fff) > kInfinity;
    if (isNan)
      EXPECT_TRUE(std::isnan(wide)) << half;
    else if ((half & 0x7fff) == kInfinity)
      EXPECT_TRUE(std::isinf(wide)) << half;
    else
      EXPECT_EQ(double(wide), valueOf(uint16_t(half))) << half;
    EXPECT_EQ(std::signbit(wide), half >= 0x8000);
    EXPECT_EQ(roundToF16(wide), isNan ? half | 0x200 : half) << half;
  }
}

TEST(F16, RoundsToNearestEven) {
  // Around the middle between each two neighbours, subnormals and the step to
  // the normal ones included.
  for (uint16_t sign : {0, 0x8000})
    for (uint16_t half = 0; half < kInfinity - 1; ++half) {
      uint16_t below = sign | half, above = sign | uint16_t(half + 1);
      auto middle = float((valueOf(below) + valueOf(above)) / 2); // is exact
      auto before = std::nextafter(middle, float(valueOf(below)));
      auto behind = std::nextafter(middle, float(valueOf(above)));
      ASSERT_EQ(roundToF16(before), below) << before;
      ASSERT_EQ(roundToF16(middle), half % 2 ? above : below) << middle;
      ASSERT_EQ(roundToF16(behind), above) << behind;
    }
}

TEST(F16, OverflowsToInfinity) {
  EXPECT_EQ(roundToF16(65504), 0x7bff);
  EXPECT_EQ(roundToF16(std::nextafter(65520.0f, 0.0f)), 0x7bff);
  EXPECT_EQ(roundToF16(65520), kInfinity);
  EXPECT_EQ(roundToF16(-std::numeric_limits<float>::max()), 0xfc00);
  EXPECT_EQ(roundToF16(-std::numeric_limits<float>::infinity()), 0xfc00);
}

TEST(F16, NanStaysNanAndQuiet) {
  EXPECT_EQ(roundToF16(asFloat(0x7f800001)), 0x7e00) << "payload below f16";
  EXPECT_EQ(roundToF16(asFloat(0xffffffff)), 0xffff) << "no carry into sign";
  EXPECT_EQ(roundToF16(asFloat(0x7f802000)), 0x7e01);
}

} // namespace
} // namespace mtc::runtime::test
