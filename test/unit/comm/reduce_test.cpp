//===- reduce_test.cpp - the corners of the sums --------------------------===//

#include "runtime/comm/reduce.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace mtc::runtime::comm;
__extension__ typedef __int128 Wide;

namespace {

template <typename T>
T reduceOne(MtcReduce op, MtcDtype dtype, std::vector<T> values) {
  std::vector<const void *> inputs;
  for (const T &value : values)
    inputs.push_back(&value);
  T result{};
  void *output = &result;
  reduceInOrder(op, dtype, inputs, {&output, 1}, 0, 1, false);
  return result;
}

TEST(Reduce, AddsFromTheLeft) {
  // 2^24 + 1 rounds to 2^24, so the order shows.
  float big = 16777216;
  EXPECT_EQ(reduceOne<float>(MTC_SUM, MTC_F32, {big, 1, 1}), big);
  EXPECT_EQ(reduceOne<float>(MTC_SUM, MTC_F32, {1, 1, big}), big + 2);
}

TEST(Reduce, F16RoundsOnceToEven) {
  // 2048 + 1 + 1 is 2050 in fp32 (an f16); rounding after each sum gives 2048.
  uint16_t f2048 = 0x6800, f2050 = 0x6801, f1 = 0x3c00;
  EXPECT_EQ(reduceOne<uint16_t>(MTC_SUM, MTC_F16, {f2048, f1, f1}), f2050);
  EXPECT_EQ(reduceOne<uint16_t>(MTC_SUM, MTC_F16, {f2048, f1}), f2048);  // tie
  EXPECT_EQ(reduceOne<uint16_t>(MTC_SUM, MTC_F16, {f2050, f1}), 0x6802); // tie
  // 40000 + 40000 is none: an overflow must show.
  EXPECT_EQ(reduceOne<uint16_t>(MTC_SUM, MTC_F16, {0x78e2, 0x78e2}), 0x7c00);
}

TEST(Reduce, Bf16RoundsOnceToEven) {
  // 256 + 1 + 1 is 258 in fp32 (a bf16); rounding after each sum gives 256.
  uint16_t b256 = 0x4380, b1 = 0x3f80, b258 = 0x4381;
  EXPECT_EQ(reduceOne<uint16_t>(MTC_SUM, MTC_BF16, {b256, b1, b1}), b258);
  EXPECT_EQ(reduceOne<uint16_t>(MTC_SUM, MTC_BF16, {b256, b1}), b256);   // tie
  EXPECT_EQ(reduceOne<uint16_t>(MTC_SUM, MTC_BF16, {b258, b1}), 0x4382); // tie
}

TEST(Reduce, NanIsNeverLost) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(reduceOne<float>(MTC_MAX, MTC_F32, {nan, 1})));
  EXPECT_TRUE(std::isnan(reduceOne<float>(MTC_MAX, MTC_F32, {1, nan})));
  // The lowest payload bit must not round away to infinity.
  uint16_t sum = reduceOne<uint16_t>(MTC_SUM, MTC_BF16, {0x7f81, 0x3f80});
  EXPECT_GT(sum & 0x7fff, 0x7f80);
}

TEST(Reduce, WideSumsAreExactAndSaturate) {
  Wide top = ((Wide(1) << 126) - 1) * 2 + 1, carry = (Wide(1) << 64) - 1;
  Wide sum = reduceOne<Wide>(MTC_SUM, MTC_I128, {carry, 1, -5});
  EXPECT_TRUE(sum == (Wide(1) << 64) - 5);
  EXPECT_TRUE(reduceOne<Wide>(MTC_SUM, MTC_I128, {top, 1}) == top);
  EXPECT_TRUE(reduceOne<Wide>(MTC_SUM, MTC_I128, {top, 1, 1}) == top);
  EXPECT_TRUE(reduceOne<Wide>(MTC_SUM, MTC_I128, {-top, -2}) == -top - 1);
}

TEST(Reduce, StreamedStoresWriteTheSameRangeOnly) {
  for (int shift : {0, 1, 3})
    for (int64_t count : {1, 7, 1023, 2049}) {
      std::vector<float> a(4096, 1), b(4096, 2), c(4096, 9), d(4096, 9);
      const void *inputs[] = {a.data(), b.data()};
      void *plain = c.data() + shift, *streamed = d.data() + shift;
      reduceInOrder(MTC_SUM, MTC_F32, inputs, {&plain, 1}, 5, count, false);
      reduceInOrder(MTC_SUM, MTC_F32, inputs, {&streamed, 1}, 5, count, true);
      EXPECT_EQ(c, d);
      EXPECT_EQ(d[5 + shift - 1], 9);
      EXPECT_EQ(d[5 + shift], 3);
      EXPECT_EQ(d[5 + shift + count], 9);
    }
}

} // namespace
