// The order-free norm: exact sums of all sizes, order, partition, poison.
#include "runtime/base/half.h"
#include "runtime/kernels/cpu/isa.h"
#include "runtime/kernels/cpu/norm.h"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

using namespace mtc::runtime;

namespace {

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kSmallest = std::numeric_limits<float>::denorm_min();
constexpr int kUnit = -298;

/// A sum on paper: one binary digit after the other, with carries.
class Paper {
public:
  /// Adds m·2^exponent, `times` times.
  void add(uint64_t m, int exponent, uint64_t times = 1) {
    auto number = static_cast<unsigned __int128>(m) * times;
    bool carry = false;
    for (int at = exponent - kUnit; number != 0 || carry; ++at, number >>= 1) {
      int ones = int(number & 1) + int(digits_[at]) + int(carry);
      digits_[at] = ones & 1;
      carry = ones > 1;
    }
  }
  void addSquare(float g, uint64_t times = 1) {
    int e;
    auto m = uint64_t(std::ldexp(std::frexp(std::fabs(g), &e), 24));
    for (; m != 0 && m % 2 == 0; ++e)
      m /= 2;
    add(m * m, 2 * (e - 24), times);
  }
  void addSquares(const std::vector<float> &g) {
    for (float x : g)
      addSquare(x);
  }
  /// The same number as limbs.
  NormSum sum() const {
    NormSum sum;
    for (int at = 0; at < kDigits; ++at)
      if (digits_[at])
        sum.limb[std::min(at / 64, NormSum::kLimbs - 1)] +=
            __int128{1} << (at - 64 * std::min(at / 64, NormSum::kLimbs - 1));
    return sum;
  }
  /// The nearest double, ties to even.
  double value() const {
    int top = kDigits - 1;
    while (top >= 0 && !digits_[top])
      --top;
    uint64_t kept = 0;
    for (int at = top; at > top - 53 && at >= 0; --at)
      kept = kept << 1 | uint64_t(digits_[at]);
    if (top < 53)
      return std::ldexp(double(kept), kUnit);
    bool half = digits_[top - 53], more = false;
    for (int at = 0; at < top - 53; ++at)
      more |= digits_[at];
    return std::ldexp(double(kept + (half && (more || kept & 1))),
                      top - 52 + kUnit);
  }

private:
  static constexpr int kDigits = 639;
  std::bitset<kDigits + 128> digits_;
};

NormSum accumulated(const std::vector<float> &g) {
  NormSum sum;
  normAccumulate(sum, g.data(), int64_t(g.size()));
  return sum;
}

NormSum accumulatedHalf(MtcDtype dtype, const std::vector<uint16_t> &g) {
  NormSum sum;
  normAccumulateHalf(sum, dtype, g.data(), int64_t(g.size()));
  return sum;
}

NormSum expected(const std::vector<float> &g) {
  Paper paper;
  paper.addSquares(g);
  return paper.sum();
}

/// What an all-reduce of MTC_I128 makes of the sums of ranks.
NormSum addedUp(const std::vector<NormSum> &ranks) {
  NormSum sum;
  for (const NormSum &rank : ranks)
    for (int i = 0; i < NormSum::kLimbs; ++i)
      if (__builtin_add_overflow(sum.limb[i], rank.limb[i], &sum.limb[i]))
        sum.limb[i] = NormSum::kNotFinite;
  return sum;
}

/// Magnitudes of binades `bottom` to `top`.
std::vector<float> spread(size_t n, int bottom, int top, unsigned seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> mantissa(1, 2);
  std::uniform_int_distribution<int> exponent(bottom, top);
  std::vector<float> g(n);
  for (float &x : g)
    x = std::ldexp(rng() & 1 ? mantissa(rng) : -mantissa(rng), exponent(rng));
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

TEST(Norm, OfHalvesIsThatOfTheSameValues) {
  onEachIsa([] {
    for (MtcDtype dtype : {MTC_BF16, MTC_F16})
      for (size_t n : {1, 7, 5000}) {
        std::vector<float> wide = dtype == MTC_BF16 ? spread(n, -130, 100, 11)
                                                    : spread(n, -24, 15, 11);
        std::vector<uint16_t> narrow;
        for (float &x : wide) {
          narrow.push_back(roundToHalf(dtype, x));
          x = widenHalf(dtype, narrow.back());
        }
        EXPECT_EQ(accumulatedHalf(dtype, narrow), expected(wide)) << n;
        narrow.back() = roundToHalf(dtype, INFINITY);
        EXPECT_FALSE(accumulatedHalf(dtype, narrow).finite()) << n;
      }
  });
}

TEST(Norm, IsExact) {
  struct Binades {
    int bottom, top;
  };
  onEachIsa([] {
    for (Binades of : {Binades{-149, 127},
                       {-149, -140},
                       {-127, -125},
                       {-110, -90},
                       {-60, -40},
                       {-30, 3},
                       {100, 127}})
      for (size_t n : {1, 3, 7, 8, 9, 1000, 1024, 1025, 5003}) {
        std::vector<float> g = spread(n, of.bottom, of.top, unsigned(n));
        EXPECT_TRUE(accumulated(g) == expected(g))
            << n << " values of binades " << of.bottom << " to " << of.top
            << " on '" << mtc_kernels_isa() << "'";
      }
  });
}

// One value at a time, so that errors cannot cancel: every binade.
TEST(Norm, TakesEverySize) {
  onEachIsa([] {
    for (int e = -149; e < 128; ++e)
      for (float m : {1.0f, 1.25f, 1.5f, std::nextafter(1.0f, 2.0f),
                      std::nextafter(2.0f, 1.0f), 1.4142135f, 1.7320508f}) {
        std::vector<float> g = {-std::ldexp(m, e)};
        EXPECT_TRUE(accumulated(g) == expected(g)) << g[0];
        // The largest decides where the digits of the others are.
        g.insert(g.end(), {kLargest, 1.0f, 0x1p-60f, kSmallest});
        EXPECT_TRUE(accumulated(g) == expected(g)) << g[0] << " among others";
      }
  });
}

TEST(Norm, ManyEqualValues) {
  constexpr int64_t n = 3'000'001;
  onEachIsa([] {
    for (float x : {kLargest, kSmallest, 1e-30f, 0.7f, 0x1p17f, 0x1p-126f}) {
      Paper paper;
      paper.addSquare(x, n);
      NormSum sum = accumulated(std::vector<float>(n, x));
      EXPECT_TRUE(sum == paper.sum()) << x;
      EXPECT_EQ(normValue(sum), std::sqrt(paper.value())) << x;
    }
  });
  // As many ranks with as many values as nobody has: still finite.
  NormSum rank;
  Paper paper;
  paper.addSquare(kLargest, uint64_t{1} << 40);
  rank = paper.sum();
  EXPECT_TRUE(rank.finite());
  NormSum all = addedUp(std::vector<NormSum>(100'000, rank));
  EXPECT_TRUE(all.finite());
  EXPECT_DOUBLE_EQ(normValue(all), double(kLargest) * 0x1p20 * std::sqrt(1e5));
}

TEST(Norm, AnyOrderAndPartition) {
  std::vector<float> g = spread(20'000, -149, 127, 3);
  NormSum once = accumulated(g);
  double value = normValue(once);
  std::mt19937 rng(5);
  onEachIsa([&] {
    for (int trial = 0; trial < 5; ++trial) {
      std::shuffle(g.begin(), g.end(), rng);
      std::vector<NormSum> ranks(7);
      for (size_t at = 0; at < g.size();) {
        size_t n = std::min<size_t>(rng() % 3000, g.size() - at);
        normAccumulate(ranks[rng() % 7], g.data() + at, int64_t(n));
        at += n;
      }
      EXPECT_EQ(normValue(addedUp(ranks)), value);
      EXPECT_TRUE(accumulated(g) == once);
    }
  });
}

// Parts of several threads add up, to what was there before, with the digits of
// all sizes and without a last full chunk.
TEST(Norm, ThreadsChangeNothing) {
  std::vector<float> g = spread(300'001, -149, 127, 7);
  std::vector<uint16_t> halves;
  for (float x : g)
    halves.push_back(roundToHalf(MTC_BF16, std::ldexp(x, -2)));
  auto all = [&](int64_t threads) {
    NormSum sum = accumulated({3.0f, kLargest, kSmallest});
    normAccumulate(sum, g.data(), int64_t(g.size()), threads);
    normAccumulateHalf(sum, MTC_BF16, halves.data(), int64_t(g.size()),
                       threads);
    normCheck(sum, g.data(), int64_t(g.size()), threads);
    return sum;
  };
  onEachIsa([&] {
    NormSum one = all(1);
    for (int64_t threads : {2, 3, 5})
      EXPECT_TRUE(all(threads) == one) << threads;
  });
  float bad = NAN;
  for (size_t place : {size_t(0), g.size() / 2, g.size() - 1}) {
    std::swap(g[place], bad);
    NormSum sum, checked;
    normAccumulate(sum, g.data(), int64_t(g.size()), 3);
    normCheck(checked, g.data(), int64_t(g.size()), 3);
    EXPECT_FALSE(sum.finite());
    EXPECT_FALSE(checked.finite());
    EXPECT_EQ(normValue(checked), HUGE_VAL);
    std::swap(g[place], bad);
  }
}

TEST(Norm, NonFiniteValuesPoison) {
  float inf = std::numeric_limits<float>::infinity();
  onEachIsa([&] {
    for (float bad : {inf, -inf, NAN, -NAN})
      for (size_t place : {size_t(0), size_t(1500), size_t(2999)}) {
        std::vector<float> g(3000, 0.5f);
        g[place] = bad;
        NormSum sum = accumulated(g);
        EXPECT_FALSE(sum.finite()) << bad;
        EXPECT_EQ(normValue(sum), HUGE_VAL);
        NormSum fine = accumulated(std::vector<float>(9, kLargest));
        EXPECT_EQ(normValue(addedUp({fine, sum, fine})), HUGE_VAL);
        EXPECT_EQ(normValue(addedUp({sum, sum, fine})), HUGE_VAL);
        normAccumulate(sum, g.data() + 1, 1);
        EXPECT_FALSE(sum.finite()); // absorbing
      }
    EXPECT_TRUE(accumulated({kLargest, -kLargest}).finite());
  });
}

TEST(Norm, ChecksWithoutAdding) {
  NormSum sum = accumulated({3.0f, -4.0f}), before = sum;
  std::vector<float> x = {kLargest, 0, -kLargest, kSmallest};
  normCheck(sum, x.data(), 4);
  EXPECT_TRUE(sum == before);
  for (float bad : {HUGE_VALF, -HUGE_VALF, NAN}) {
    x[2] = bad;
    sum = before;
    normCheck(sum, x.data(), 4);
    EXPECT_EQ(normValue(sum), HUGE_VAL) << bad;
    normCheck(sum, x.data(), 1);
    EXPECT_EQ(normValue(sum), HUGE_VAL) << bad; // absorbing
    sum = before;
    normCheck(sum, x.data(), 2);
    EXPECT_TRUE(sum == before) << "looks behind its values";
  }
}

// Sums that lie between two doubles, near their middle and on it.
TEST(Norm, RoundsTheSumOnceToNearestEven) {
  for (int top : {60, 64, 65, 127, 128, 180, 500, 553, 574})
    for (uint64_t odd : {0, 1})
      for (int tail : {-1, 0, top - 54}) {
        Paper paper;
        paper.add(1, kUnit + top);
        paper.add(odd, kUnit + top - 52); // the last bit of a double
        paper.add(1, kUnit + top - 53);   // and half of it
        if (tail >= 0)
          paper.add(1, kUnit + tail);
        EXPECT_EQ(normValue(paper.sum()), std::sqrt(paper.value()))
            << top << " " << odd << " " << tail;
        double more = odd != 0 || tail >= 0 ? 0x1p-52 : 0;
        double even = 1 + (odd != 0 ? 0x1p-52 : 0) + more;
        EXPECT_EQ(paper.value(), std::ldexp(even, kUnit + top));
      }
}

TEST(Norm, ValueAndClip) {
  EXPECT_EQ(normValue(NormSum()), 0.0);
  EXPECT_EQ(normValue(accumulated({3.0f, -4.0f})), 5.0);
  EXPECT_EQ(normValue(accumulated({3e6f, -4e6f})), 5e6);
  EXPECT_EQ(normValue(accumulated({-0x3p-140f, 0x4p-140f})), 0x5p-140);
  EXPECT_EQ(clipCoefficient(5.0, 1.0), float(1.0 / (5.0 + 1e-6)));
  EXPECT_EQ(clipCoefficient(0.5, 1.0), 1.0f);
  EXPECT_EQ(clipCoefficient(5.0, 0.0), 1.0f);
}
