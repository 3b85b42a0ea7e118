// Sums of squares, and checks: the bits of the host's.
#include "norm_on_device.h"
#include "norm_values.h"

#include <cmath>

using namespace mtc;
using namespace mtc::test;
using runtime::NormSum;

namespace {

/// Of a sum that is not finite the last limb alone says something.
void expectSame(const NormSum &found, const NormSum &expected) {
  if (expected.finite())
    EXPECT_EQ(wordsOf(found), wordsOf(expected));
  else
    EXPECT_FALSE(found.finite());
}

const size_t kCounts[] = {0,   1,    2,    3,    5,    8,   15,
                          16,  17,   31,   100,  511,  512, 513,
                          777, 1025, 2047, 2048, 3001, 9001};

TEST(Norm, OfFloatsIsThatOfTheHost) {
  for (size_t count : kCounts)
    for (int kind = 0; kind < int(Kind::count); ++kind) {
      NormSum host = below(2) ? someSum() : NormSum();
      NormOnDevice device(*normModule, someSeed(), host);
      for (int launches = 0; launches < 2; ++launches) {
        std::vector<float> g = valuesOf(Kind(kind), count);
        uint32_t blocks = someBlocks();
        size_t skipped = below(4);
        SCOPED_TRACE(testing::Message()
                     << count << " values of kind " << kind << ", " << blocks
                     << " blocks, " << skipped << " skipped");
        runtime::normAccumulate(host, g.data(), int64_t(count));
        device.accumulate(g, blocks, skipped);
        expectSame(device.sum(), host);
        if (testing::Test::HasFailure())
          return;
      }
    }
}

std::vector<uint16_t> halvesOf(MtcDtype dtype, Kind kind, size_t count) {
  std::vector<uint16_t> g(count);
  for (uint16_t &x : g) {
    x = below(8) ? runtime::roundToHalf(dtype, valueOf(kind))
                 : uint16_t(someSeed());
    if (!std::isfinite(runtime::widenHalf(dtype, x)))
      x = 1;
  }
  return g;
}

TEST(Norm, OfHalvesIsThatOfTheHost) {
  for (MtcDtype dtype : {MTC_BF16, MTC_F16})
    for (size_t count : kCounts)
      for (int kind = 0; kind < int(Kind::count); ++kind) {
        std::vector<uint16_t> g = halvesOf(dtype, Kind(kind), count);
        NormSum host = someSum();
        NormOnDevice device(*normModule, someSeed(), host);
        runtime::normAccumulateHalf(host, dtype, g.data(), int64_t(count));
        device.accumulate(dtype, g, someBlocks(), below(8));
        ASSERT_EQ(wordsOf(device.sum()), wordsOf(host))
            << count << " of type " << dtype << " and kind " << kind;
      }
}

TEST(Norm, EachValueOfALaneMayBeInfinite) {
  for (size_t i = 0; i < 16; ++i) {
    NormOnDevice floats(*normModule, someSeed());
    std::vector<float> g(512, 1);
    g[i / 4 * 128 + i % 4] = kInfinity;
    floats.accumulate(g, 1, 0);
    EXPECT_FALSE(floats.sum().finite()) << i;
    for (MtcDtype dtype : {MTC_BF16, MTC_F16}) {
      NormOnDevice device(*normModule, someSeed());
      std::vector<uint16_t> halves(512, 1);
      halves[i / 8 * 256 + i % 8] = runtime::roundToHalf(dtype, kInfinity);
      device.accumulate(dtype, halves, 1, 0);
      EXPECT_FALSE(device.sum().finite()) << i << " of type " << dtype;
    }
  }
}

TEST(Norm, LanesGiveAwayTheirSumsBeforeTheyOverflow) {
  // Full mantissas, all at the top of the window of one of eight warps, which
  // take 512 values in turn.
  std::vector<float> g(2'300'000);
  for (size_t i = 0; i < g.size(); ++i)
    g[i] = i / 512 % 8 == 0 ? kLargest : 0;
  NormSum host;
  runtime::normAccumulate(host, g.data(), int64_t(g.size()));
  NormOnDevice device(*normModule, normSeed);
  device.accumulate(g, 1, 0);
  EXPECT_EQ(wordsOf(device.sum()), wordsOf(host));
}

TEST(Norm, CarriesIntoTheLastHalf) {
  NormSum host;
  host.limb[NormSum::kLimbs - 1] = ~uint64_t(0);
  NormOnDevice device(*normModule, normSeed, host);
  std::vector<float> g(1000, kLargest);
  runtime::normAccumulate(host, g.data(), 1000);
  ASSERT_GT(host.limb[NormSum::kLimbs - 1] >> 64, 0);
  device.accumulate(g, 3, 0);
  EXPECT_EQ(wordsOf(device.sum()), wordsOf(host));
}

TEST(Norm, WhatIsNotFiniteStaysSo) {
  for (float bad : {kInfinity, -kInfinity, std::nanf("")})
    for (size_t count : {1, 7, 600, 2500}) {
      std::vector<float> g(count, kLargest);
      g[below(count)] = bad;
      NormOnDevice device(*normModule, someSeed(), someSum());
      device.accumulate(g, someBlocks(), below(4));
      EXPECT_FALSE(device.sum().finite()) << bad << " among " << count;
      // Carries come to the last limb, but do not change it.
      device.accumulate(std::vector<float>(900, kLargest), 3, 0);
      EXPECT_FALSE(device.sum().finite());
      device.reset();
      EXPECT_EQ(wordsOf(device.sum()), wordsOf(NormSum()));
    }
  for (MtcDtype dtype : {MTC_BF16, MTC_F16}) {
    std::vector<uint16_t> g(500, 1);
    g[below(500)] = runtime::roundToHalf(dtype, kInfinity);
    NormOnDevice device(*normModule, normSeed);
    device.accumulate(dtype, g, 2, 3);
    EXPECT_FALSE(device.sum().finite());
  }
}

TEST(Norm, FiniteValuesBesideOthersDoNotDependOnTheGrid) {
  std::vector<float> g = valuesOf(Kind::wide, 3000);
  g[1234] = kInfinity;
  NormOnDevice one(*normModule, 1), other(*normModule, 2);
  one.accumulate(g, 1, 0);
  other.accumulate(g, 4, 3);
  EXPECT_EQ(wordsOf(one.sum()), wordsOf(other.sum()));
}

TEST(Norm, CheckAddsNothing) {
  for (size_t count : kCounts)
    for (uint32_t blocks : {1, 3}) {
      NormSum sum = someSum();
      NormOnDevice device(*normModule, someSeed(), sum);
      std::vector<float> x = valuesOf(Kind::bits, count);
      device.check(x, blocks, below(4));
      EXPECT_EQ(wordsOf(device.sum()), wordsOf(sum)) << count;
    }
}

TEST(Norm, CheckLooksAtTheLastValue) {
  // Of the first piece of a warp, and of later ones.
  for (size_t most : {1200, 9000, 40000})
    for (size_t i = 0; i < 100'000 / most; ++i) {
      std::vector<float> x(1 + below(most), 1);
      x.back() = std::nanf("");
      NormOnDevice device(*normModule, someSeed());
      device.check(x, 1, 0);
      ASSERT_FALSE(device.sum().finite()) << x.size();
    }
}

TEST(Norm, CheckLooksAtEachValue) {
  std::vector<float> x(9001, -kLargest);
  for (size_t at = 0; at < x.size(); at += 1 + below(40)) {
    x[at] = -kInfinity;
    NormOnDevice device(*normModule, someSeed());
    device.check(x, uint32_t(1 + below(2)), below(4));
    ASSERT_FALSE(device.sum().finite()) << at;
    x[at] = -kLargest;
  }
}

} // namespace
