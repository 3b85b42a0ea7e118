// NormCounter by itself, against normAccumulate: windows at their ends, with
// as much as fits in one, from piece to piece; rows in memory; what is not
// finite. Windows are filled by a model of the kernels, and by theirs.
#include "runtime/kernels/cpu/isa.h"
#include "runtime/kernels/cpu/norm_counter.h"
#include "test/unit/kernels/norm_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

using namespace mtc::runtime;
using namespace mtc::test;

namespace {

using Values = std::vector<float>;
using Limits = std::numeric_limits<float>;

/// Of vectors of 16 lanes, of which each of eight sums has two.
void addModel(NormHalves &to, int64_t lane, double magnitude, double magnet) {
  constexpr uint64_t kLow = (uint64_t{1} << 52) - 1;
  uint64_t units = std::bit_cast<uint64_t>(magnitude + magnet) & kLow;
  auto square = static_cast<unsigned __int128>(units) * units;
  to.low[lane % 8] += uint64_t(square) & kLow;
  to.high[lane % 8] += uint64_t(square >> 52);
}

/// One value after the other.
void fillModel(NormWindow &to, const float *at, int64_t rows) {
  for (int64_t i = 0; i < rows * kRowValues; ++i) {
    float magnitude = std::fabs(at[i]);
    auto bits = std::bit_cast<uint32_t>(magnitude);
    to.largest[i % 16] = std::max(to.largest[i % 16], bits);
    to.isOut |= bits >= to.end || (bits > 0 && bits < to.leastSmall);
    if (bits >= to.leastUsual)
      addModel(to.usual, i, magnitude, to.usualMagnet);
    else
      addModel(to.small, i, magnitude, to.smallMagnet);
  }
}

struct Filler {
  const char *name;
  void (*rows)(NormWindow &, const float *, int64_t);
};

/// Zeros behind the values make whole rows, as the padding of panels does.
Values inRows(Values of) {
  auto rows = (int64_t(of.size()) + kRowValues - 1) / kRowValues;
  of.resize(size_t(rows * kRowValues));
  return of;
}

NormSum accumulatedOf(const Values &of) {
  NormSum sum;
  normAccumulate(sum, of.data(), int64_t(of.size()));
  return sum;
}

NormSum sumOf(const NormCounter &counter) {
  NormSum sum;
  counter.addTo(sum);
  return sum;
}

/// 2^52 units of the next window.
double unitsOf(const NormCounter &of) {
  NormCounter copy = of;
  return copy.begin().usualMagnet;
}

class Windows : public testing::TestWithParam<Filler> {
protected:
  void SetUp() override {
    if (GetParam().rows == countRows && !NormCounter::hasWindows())
      GTEST_SKIP() << "this CPU lacks AVX-512 IFMA";
  }

  /// Whether a window of the counter takes the values.
  static bool takes(NormCounter &counter, const Values &values) {
    Values rows = inRows(values);
    GetParam().rows(counter.begin(), rows.data(),
                    int64_t(rows.size()) / kRowValues);
    return counter.end();
  }

  static void expectTaken(const NormCounter &at, const Values &values) {
    NormCounter counter = at;
    NormSum before = sumOf(counter);
    EXPECT_TRUE(takes(counter, values)) << testing::PrintToString(values);
    normAccumulate(before, values.data(), int64_t(values.size()));
    EXPECT_TRUE(sumOf(counter) == before) << testing::PrintToString(values);
  }

  /// And nothing is added; the next window takes what is finite.
  static void expectRejected(const NormCounter &at, const Values &values) {
    NormCounter counter = at;
    NormSum before = sumOf(counter);
    EXPECT_FALSE(takes(counter, values)) << testing::PrintToString(values);
    EXPECT_TRUE(sumOf(counter) == before) << testing::PrintToString(values);
    bool isFinite = std::isfinite(values[0]);
    EXPECT_EQ(takes(counter, values), isFinite) << values[0];
    if (isFinite)
      normAccumulate(before, values.data(), int64_t(values.size()));
    EXPECT_TRUE(sumOf(counter) == before) << values[0];
  }

  /// Those of the next window of the counter: 2^52 units, which are too many;
  /// 2^23, below which a value is a small one; and 2^23 small units, below
  /// which not every value has whole ones.
  static void expectEnds(const NormCounter &counter) {
    double units = unitsOf(counter);
    SCOPED_TRACE(testing::Message() << "a window below " << units);
    bool hasAll = units <= 0x1p-69; // the smaller unit is the smallest value
    float end = float(units), usual = float(std::ldexp(units, -29)),
          least = hasAll ? Limits::denorm_min() : float(std::ldexp(units, -57)),
          largest = std::nextafter(end, 0.0f);
    expectTaken(counter, {});
    expectTaken(counter, {0, -0.0f});
    expectTaken(counter, {largest});
    expectTaken(counter, {-least});
    expectTaken(counter, {usual, std::nextafter(usual, 0.0f)});
    expectTaken(counter, {0, -largest, least, -0.0f, -least, largest});
    expectRejected(counter, {end});
    expectRejected(counter, {-end});
    if (!hasAll) {
      expectRejected(counter, {std::nextafter(least, 0.0f)});
    }
  }
};

template <typename T, size_t N>
void expectEqual(const T (&one)[N], const T (&other)[N]) {
  EXPECT_EQ(std::vector<T>(one, one + N), std::vector<T>(other, other + N));
}

INSTANTIATE_TEST_SUITE_P(NormCounter, Windows,
                         testing::Values(Filler{"Model", fillModel},
                                         Filler{"Kernel", countRows}),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

} // namespace

TEST_P(Windows, EndAtTheirLastUnits) {
  expectEnds(NormCounter());
  // Where a first piece of each binade moves them.
  for (int exponent = -149; exponent < 128; ++exponent) {
    NormCounter counter;
    Values piece = {std::ldexp(1.0f, exponent)};
    if (takes(counter, piece)) {
      EXPECT_TRUE(-57 <= exponent && exponent < 0) << exponent;
      continue;
    }
    EXPECT_TRUE(takes(counter, piece)) << exponent;
    EXPECT_TRUE(sumOf(counter) == accumulatedOf(piece)) << exponent;
    expectEnds(counter);
  }
}

TEST_P(Windows, MoveToTheEndsOfFp32) {
  NormCounter small, large;
  EXPECT_FALSE(takes(small, {Limits::denorm_min()}));
  EXPECT_EQ(unitsOf(small), 0x1p-97);
  EXPECT_FALSE(takes(large, {Limits::max()}));
  EXPECT_EQ(unitsOf(large), 0x1p128);
  for (float bad : {Limits::infinity(), -Limits::infinity(), NAN, -NAN}) {
    expectRejected(NormCounter(), {bad, 1});
    expectRejected(small, {bad, 0});
    expectRejected(large, {bad, Limits::max()});
  }
}

// Of 24 ones, at each place in the window, of usual and of small values: so the
// halves of some squares are as large as can be.
TEST_P(Windows, HaveRoomForAllTheirValues) {
  for (int shift = -28; shift <= 28; ++shift)
    expectTaken(NormCounter(), Values(size_t(kWindowValues),
                                      std::ldexp(float(0xffffff), shift - 52)));
}

// As products do: a piece that its window does not take is added as it lies in
// memory. Magnitudes move, up and down.
TEST_P(Windows, AndRowsAddUpToTheSum) {
  std::mt19937 rng(20261128);
  std::uniform_real_distribution<float> mantissa(-2, 2);
  int taken = 0, added = 0;
  for (int trial = 0; trial < 40; ++trial) {
    NormCounter counter;
    NormSum expected = accumulatedOf({3, Limits::max(), Limits::denorm_min()}),
            found = expected;
    for (int piece = 0, exponent = 0; piece < 40; ++piece) {
      exponent = std::clamp(exponent + int(rng() % 41) - 20, -140, 120);
      // Of a trial in four values are far apart, too.
      unsigned apart = trial % 4 == 0 ? 1 + rng() % 40 : 4;
      Values values(rng() % 700);
      for (float &x : values)
        x = rng() % 16 == 0
                ? 0
                : std::ldexp(mantissa(rng), exponent - int(rng() % apart));
      bool fits = takes(counter, values);
      if (!fits)
        counter.add(values.data(), int64_t(values.size()), 1,
                    int64_t(values.size()));
      ++(fits ? taken : added);
      normAccumulate(expected, values.data(), int64_t(values.size()));
    }
    counter.addTo(found);
    EXPECT_TRUE(found == expected) << trial;
  }
  EXPECT_GT(taken, 400);
  EXPECT_GT(added, 200);
}

// Whatever follows: also squares that reach the last limb, which says it.
TEST_P(Windows, LeaveASumThatIsNotFinite) {
  for (float bad : {Limits::infinity(), NAN}) {
    NormCounter counter;
    EXPECT_FALSE(takes(counter, {Limits::max()}));
    EXPECT_FALSE(takes(counter, {bad}));
    counter.add(&bad, 1, 1, 1);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(takes(counter, Values(1000, Limits::max())));
      EXPECT_FALSE(sumOf(counter).finite()) << bad;
    }
    NormSum sum = accumulatedOf({1});
    counter.addTo(sum);
    EXPECT_FALSE(sum.finite());
    NormCounter().addTo(sum);
    EXPECT_FALSE(sum.finite());
  }
}

// Lanes, halves and what is beyond the last row.
TEST(NormWindows, AreFilledByTheKernelsAsByTheModel) {
  if (!NormCounter::hasWindows())
    GTEST_SKIP() << "this CPU lacks AVX-512 IFMA";
  std::mt19937 rng(1);
  NormCounter one, other;
  int out = 0;
  for (int64_t rows = 0; rows < 40; ++rows) {
    Values values(size_t(rows * kRowValues));
    // Usual values only, small ones among them, some that are in no window.
    unsigned apart = rows % 3 == 0 ? 1 : rows % 3 == 1 ? 40 : 63;
    for (float &x : values)
      x = rng() % 8 == 0
              ? 0
              : std::ldexp(float(int32_t(rng())), -31 - int(rng() % apart));
    NormWindow &model = one.begin(), &kernel = other.begin();
    fillModel(model, values.data(), rows);
    countRows(kernel, values.data(), rows);
    SCOPED_TRACE(rows);
    for (NormHalves NormWindow::*of :
         {&NormWindow::usual, &NormWindow::small}) {
      expectEqual((model.*of).low, (kernel.*of).low);
      expectEqual((model.*of).high, (kernel.*of).high);
    }
    expectEqual(model.largest, kernel.largest);
    EXPECT_EQ(model.isOut, kernel.isOut);
    out += kernel.isOut;
  }
  EXPECT_GT(out, 5);
  EXPECT_LT(out, 15);
}

// Rows are put side by side, 8,192 values at a time: fewer, as many, and more
// than that, in each row and in all of them. Between rows lies what is not
// theirs.
TEST(NormCounter, AddsRowsOfAnySize) {
  std::mt19937 rng(2);
  for (int64_t columns : {1, 7, 96, 1024, 4096, 8191, 8192, 8193, 20000})
    for (int64_t rows : {1, 2, 3, 86})
      for (int64_t between : {0, 5}) {
        int64_t stride = columns + between;
        Values memory(size_t(rows * stride), NAN), values;
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j) {
            values.push_back(std::ldexp(float(int32_t(rng())), -int(i % 64)));
            memory[size_t(i * stride + j)] = values.back();
          }
        NormCounter counter;
        counter.add(memory.data(), stride, rows, columns);
        EXPECT_TRUE(sumOf(counter) == accumulatedOf(values))
            << rows << " rows of " << columns << ", " << stride << " apart";
        // One that is not finite at the end, in front of what is no value.
        memory[size_t((rows - 1) * stride + columns - 1)] = Limits::infinity();
        counter.add(memory.data(), stride, rows, columns);
        EXPECT_FALSE(sumOf(counter).finite());
      }
}

// Runs that begin and end anywhere: of less than a vector, of whole windows and
// more, with values that are in the window and in none.
TEST(NormCounter, CountsRunsOfAnySize) {
  std::mt19937 rng(3);
  for (int64_t size : {1, 15, 16, 17, 100, 16384, 16385, 40000})
    for (int64_t skipped : {0, 1, 5})
      for (unsigned apart : {1u, 20u, 200u}) {
        Values values(size_t(skipped + size));
        for (float &x : values)
          x = std::ldexp(float(int32_t(rng())), -31 - int(rng() % apart) % 149);
        for (int64_t i = 0; i < skipped; ++i)
          values[size_t(i)] = NAN;
        Values taken(values.begin() + skipped, values.end());
        NormCounter counter;
        for (int twice = 0; twice < 2; ++twice) // in windows of others
          counter.count(values.data() + skipped, size);
        NormSum expected = accumulatedOf(taken);
        normAccumulate(expected, taken.data(), size);
        EXPECT_TRUE(sumOf(counter) == expected)
            << size << " values behind " << skipped << ", " << apart;
        values.back() = Limits::infinity();
        counter.count(values.data() + skipped, size);
        EXPECT_FALSE(sumOf(counter).finite());
      }
}

TEST(NormCounter, AddsNothingOfNoRows) {
  NormCounter counter;
  counter.add(nullptr, 3, 0, 3);
  counter.add(nullptr, 3, 3, 0);
  EXPECT_TRUE(sumOf(counter) == NormSum());
}
