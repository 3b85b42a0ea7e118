// The order-free norm: exact rounding, order, partition, poison.
#include "runtime/kernels/cpu/isa.h"
#include "runtime/kernels/cpu/norm.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

using namespace mtc::runtime;

namespace {

/// The rule of docs/numerics.md by long double: the square of a float has 48
/// bits, so it and its multiple by 2^92 are exact; rintl rounds to even. Above
/// 2^63 the square is a multiple of the unit already (48 bits).
__int128 unitsOf(float g) {
  long double x = std::ldexp((long double)g * g, 92);
  if (x < 0x1p62L)
    return __int128(std::rint(x));
  int e;
  long double m = std::frexp(x, &e);
  return __int128(int64_t(std::ldexp(m, 62))) << (e - 62);
}

NormSum expected(const std::vector<float> &g) {
  NormSum sum;
  for (float x : g)
    sum.units += unitsOf(x);
  return sum;
}

NormSum accumulated(const std::vector<float> &g) {
  NormSum sum;
  normAccumulate(sum, g.data(), int64_t(g.size()));
  return sum;
}

/// Magnitudes from denormal to just below 2^top.
std::vector<float> spread(size_t n, int top, unsigned seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(-70, top);
  std::vector<float> g(n);
  for (float &x : g)
    x = std::ldexp(mantissa(rng), exponent(rng));
  return g;
}

/// Runs on each instruction set of this CPU. "" comes first: before any choice
/// the norm takes the slow path.
template <typename Body> void onEachIsa(Body body) {
  if (mtc_kernels_isa().empty())
    body();
  for (const char *isa : {"x86-64-v3", "x86-64-v4"})
    if (mtc_kernels_select_isa(isa).ok())
      body();
}

} // namespace

TEST(Norm, MatchesExactArithmetic) {
  onEachIsa([] {
    for (int top : {-40, -20, 0, 6, 12})
      for (size_t n : {1, 7, 8, 1000, 1024, 1025, 5003})
        EXPECT_TRUE(accumulated(spread(n, top, unsigned(n))) ==
                    expected(spread(n, top, unsigned(n))))
            << n << " values below 2^" << top << " on " << mtc_kernels_isa();
  });
}

// One value at a time, so that errors cannot cancel: both sides of every
// threshold of the two paths.
TEST(Norm, RoundsEachSquareToNearestEven) {
  onEachIsa([] {
    for (int e = -149; e < 17; ++e)
      for (float m : {1.0f, 1.25f, 1.5f, std::nextafter(1.0f, 2.0f),
                      std::nextafter(2.0f, 1.0f), 1.4142135f, 1.7320508f}) {
        std::vector<float> g = {-std::ldexp(m, e)};
        EXPECT_TRUE(accumulated(g) == expected(g)) << g[0];
      }
    // Around the last bit. (A tie would be an odd multiple of 2^-93, but
    // squares are odd multiples of even powers: there is none.)
    for (int e = -60; e <= -44; ++e)
      for (int m = 1; m < 4096; m += 2) {
        std::vector<float> g = {std::ldexp(float(m), e)};
        EXPECT_TRUE(accumulated(g) == expected(g)) << g[0];
      }
  });
}

TEST(Norm, AnyOrderAndPartition) {
  std::vector<float> g = spread(20'000, 8, 3);
  NormSum once = accumulated(g);
  std::mt19937 rng(5);
  onEachIsa([&] {
    for (int trial = 0; trial < 5; ++trial) {
      std::shuffle(g.begin(), g.end(), rng);
      NormSum left, right;
      int64_t cut = int64_t(rng() % g.size());
      normAccumulate(right, g.data() + cut, int64_t(g.size()) - cut);
      normAccumulate(left, g.data(), cut);
      normCombine(left, right);
      EXPECT_TRUE(left == once);
    }
  });
}

TEST(Norm, NonFiniteAndLargeValuesPoison) {
  float inf = std::numeric_limits<float>::infinity();
  onEachIsa([&] {
    for (float bad : {inf, -inf, NAN, 0x1p17f, -0x1p17f, 1e30f})
      for (size_t place : {size_t(0), size_t(1500), size_t(2999)}) {
        std::vector<float> g(3000, 0.5f);
        g[place] = bad;
        NormSum sum = accumulated(g);
        EXPECT_FALSE(sum.finite()) << bad;
        EXPECT_EQ(normValue(sum), HUGE_VAL);
        NormSum fine = accumulated({1.0f});
        normCombine(fine, sum);
        EXPECT_FALSE(fine.finite());
        normAccumulate(sum, g.data(), 1);
        EXPECT_FALSE(sum.finite()); // absorbing
      }
    EXPECT_TRUE(accumulated({std::nextafter(0x1p17f, 0.0f)}).finite());
  });
}

TEST(Norm, OverflowPoisons) {
  // Two squares just below 2^34 fill the 127 bits (2^35·2^92); the third does
  // not fit.
  float big = std::nextafter(0x1p17f, 0.0f);
  EXPECT_TRUE(accumulated({big, big}).finite());
  EXPECT_FALSE(accumulated({big, big, big}).finite());
  NormSum a = accumulated({big, big}), b = accumulated({big});
  normCombine(a, b);
  EXPECT_FALSE(a.finite());
}

TEST(Norm, ValueAndClip) {
  EXPECT_EQ(normValue(accumulated({3.0f, -4.0f})), 5.0);
  EXPECT_EQ(clipCoefficient(5.0, 1.0), float(1.0 / (5.0 + 1e-6)));
  EXPECT_EQ(clipCoefficient(0.5, 1.0), 1.0f);
  EXPECT_EQ(clipCoefficient(5.0, 0.0), 1.0f);
}
