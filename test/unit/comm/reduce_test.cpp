//===- reduce_test.cpp - the corners of the sums --------------------------===//

#include "runtime/comm/reduce.h"

#include "mtc/runtime/isa.h"
#include "runtime/comm/moves.h"

#include <gtest/gtest.h>

#include <algorithm>
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
  reduceInOrder(op, dtype, inputs, {&output, 1}, 0, 1);
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

/// Bit patterns of all kinds of floats, subnormals, infinities and NaNs too.
std::vector<uint32_t> words(size_t count, uint32_t seed) {
  std::vector<uint32_t> result(count);
  for (uint32_t &word : result)
    word = seed = seed * 1664525 + 1013904223;
  return result;
}

/// The tables that this processor can run, by name.
std::vector<std::pair<const char *, const MoveTable *>> tables() {
  std::vector<std::pair<const char *, const MoveTable *>> all{
      {"base", &kMovesBase}};
  if (mtc::runtime::processorHasLevel3())
    all.push_back({"v3", &kMovesV3});
  if (mtc::runtime::processorHasLevel4())
    all.push_back({"v4", &kMovesV4});
  return all;
}

constexpr size_t kWords = 512;

/// Three members' buffers after a reduction of [first, first + count) to the
/// last two of them.
std::vector<std::vector<uint32_t>> reduced(const MoveTable &table, MtcReduce op,
                                           MtcDtype dtype, int64_t first,
                                           int64_t count) {
  std::vector<std::vector<uint32_t>> buffers = {
      words(kWords, 1), words(kWords, 2), words(kWords, 3)};
  const void *inputs[] = {buffers[0].data(), buffers[1].data(),
                          buffers[2].data()};
  void *outputs[] = {buffers[1].data(), buffers[2].data()};
  table.reduce({op, dtype, inputs, 3, outputs, 2, first, count});
  return buffers;
}

/// What one element at a time gives.
std::vector<std::vector<uint32_t>> oneByOne(MtcReduce op, MtcDtype dtype,
                                            int64_t first, int64_t count) {
  std::vector<std::vector<uint32_t>> buffers = {
      words(kWords, 1), words(kWords, 2), words(kWords, 3)};
  const void *inputs[] = {buffers[0].data(), buffers[1].data(),
                          buffers[2].data()};
  void *outputs[] = {buffers[1].data(), buffers[2].data()};
  for (int64_t i = first; i < first + count; ++i)
    kMovesBase.reduce({op, dtype, inputs, 3, outputs, 2, i, 1});
  return buffers;
}

TEST(Reduce, HasTheSameBitsOnEveryProcessorAndAtEveryLength) {
  for (MtcDtype dtype : {MTC_F32, MTC_BF16, MTC_F16, MTC_I128})
    for (MtcReduce op : {MTC_SUM, MTC_MAX}) {
      if (!canReduce(op, dtype))
        continue;
      int64_t most = int64_t(kWords) * 4 / elementBytes(dtype);
      for (int64_t first : {0, 1, 3})
        for (int64_t count : {0, 1, 31, 32, 63, 64, 65, 100, 127})
          for (auto [name, table] : tables())
            EXPECT_EQ(reduced(*table, op, dtype, first,
                              std::min(count, most - first)),
                      oneByOne(op, dtype, first, std::min(count, most - first)))
                << name << ", type " << dtype << ", " << count << " from "
                << first;
    }
}

TEST(Reduce, CopiesWriteTheirRangeOnly) {
  std::vector<char> from(4096);
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = char(i * 7 % 251);
  for (auto [name, table] : tables())
    for (bool stream : {false, true})
      for (int64_t shift : {0, 1, 63})
        for (int64_t bytes : {0, 1, 64, 300, 2049}) {
          std::vector<char> to(4096, 9), expected = to;
          std::copy_n(from.begin() + 5, bytes, expected.begin() + shift);
          table->copy(to.data() + shift, from.data() + 5, bytes, stream);
          EXPECT_EQ(to, expected) << name << ", " << bytes << " at " << shift;
        }
}

} // namespace
