//===- bf16_test.cpp - bfloat16 and fp32 ----------------------------------===//

#include "runtime/base/bf16.h"
#include "test/unit/half.h"

#include <gtest/gtest.h>

#include <limits>

namespace mtc::runtime::test {
namespace {

float fromBits(uint32_t bits) { return __builtin_bit_cast(float, bits); }

TEST(Bf16, WideningIsExactAndRoundingUndoesIt) {
  for (uint32_t half = 0; half <= 0xffff; ++half) {
    float value = widenBf16(uint16_t(half));
    EXPECT_EQ(__builtin_bit_cast(uint32_t, value), half << 16);
    bool nan = (half & 0x7fff) > 0x7f80;
    EXPECT_EQ(roundToBf16(value), nan ? half | 0x40 : half) << half;
  }
}

TEST(Bf16, RoundsToNearestEven) {
  // Around every positive and negative finite value, subnormals included: just
  // below, at and just above the middle to the next one.
  for (uint32_t sign : {0u, 0x8000u})
    for (uint32_t half = 0; half < 0x7f7f; ++half)
      for (uint32_t low : {0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
        float value = fromBits((sign | half) << 16 | low);
        ASSERT_EQ(roundToBf16(value), mtc::test::nearestBf16(value)) << value;
      }
}

TEST(Bf16, OverflowsToInfinity) {
  EXPECT_EQ(roundToBf16(fromBits(0x7f7f7fff)), 0x7f7f);
  EXPECT_EQ(roundToBf16(fromBits(0x7f7f8000)), 0x7f80);
  EXPECT_EQ(roundToBf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(roundToBf16(-std::numeric_limits<float>::infinity()), 0xff80);
}

TEST(Bf16, NanStaysNanAndQuiet) {
  EXPECT_EQ(roundToBf16(fromBits(0x7f800001)), 0x7fc0) << "payload below bf16";
  EXPECT_EQ(roundToBf16(fromBits(0xffffffff)), 0xffff) << "no carry into sign";
  EXPECT_EQ(roundToBf16(fromBits(0x7f910000)), 0x7fd1);
}

} // namespace
} // namespace mtc::runtime::test
