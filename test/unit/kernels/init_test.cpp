// Initial values: own log and quantile against the C library, moments, slabs.
#include "normal_words.h"

#include "runtime/base/name_hash.h"
#include "runtime/base/philox.h"
#include "runtime/base/plain_math.h"
#include "runtime/kernels/cpu/init.h"
#include "runtime/kernels/cpu/isa.h"

#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using namespace mtc::runtime;

TEST(PlainMath, LogWithinFourUlp) {
  for (uint64_t i = 1; i <= 200'000; ++i) {
    double x = double(i * 7919) / 65536.0;
    double y = i % 2 ? x : 1.0 / x;
    double expected = std::log(y);
    // 4 ulp relative, and near 1, where log is small, of the argument's ulp.
    EXPECT_NEAR(plainLog(y), expected,
                4 * 0x1p-53 * std::fabs(expected) + 1e-17)
        << y;
  }
  EXPECT_EQ(plainLog(1.0), 0.0);
  EXPECT_EQ(plainLog(HUGE_VAL), HUGE_VAL);
  EXPECT_TRUE(std::isnan(plainLog(NAN)));
}

// Phi(plainNormal(word)) is the word's probability. AS 241 states 1e-16; erfc
// amplifies an error of x by about x^2 in relative terms: 41·2e-16 at 6.4.
TEST(PlainMath, NormalInvertsTheDistribution) {
  for (uint64_t word = 0; word < (uint64_t{1} << 32); word += 40'009) {
    double p = (double(word) + 0.5) * 0x1p-32;
    double x = plainNormal(uint32_t(word));
    double tail = p < 0.5 ? p : 1 - p;
    EXPECT_NEAR(0.5 * std::erfc(std::fabs(x) / std::sqrt(2.0)), tail,
                2e-14 * tail)
        << word;
    EXPECT_EQ(x < 0, p < 0.5);
  }
  EXPECT_EQ(plainNormal(0), -plainNormal(0xffffffffu));
  EXPECT_LT(plainNormal(0xffffffffu), 6.4);
}

/// Words all over the range, and all near those where another formula begins or
/// the range ends.
static std::vector<uint32_t> telling() {
  std::vector<uint32_t> words;
  for (uint64_t word = 0; word < (uint64_t{1} << 32); word += 9973)
    words.push_back(uint32_t(word));
  for (double edge : {0.0, 0.075, 0.5, 0.925})
    for (int64_t step = -500; step < 500; ++step)
      words.push_back(uint32_t(int64_t(edge * 0x1p32) + step));
  words.resize(words.size() / mtc::test::kWordsAtOnce *
               mtc::test::kWordsAtOnce);
  return words;
}

TEST(VectorNormals, AreThePlainOnesBitByBit) {
  struct Built {
    const char *isa;
    void (*normals)(const uint32_t *, double *);
  };
  std::vector<uint32_t> words = telling();
  for (Built built : {Built{"x86-64-v3", mtc::test::normalsV3},
                      {"x86-64-v4", mtc::test::normalsV4}}) {
    if (!processorHas(built.isa))
      continue;
    for (size_t at = 0; at < words.size(); at += mtc::test::kWordsAtOnce) {
      double made[mtc::test::kWordsAtOnce];
      built.normals(&words[at], made);
      for (size_t i = 0; i < mtc::test::kWordsAtOnce; ++i)
        ASSERT_EQ(made[i], plainNormal(words[at + i]))
            << built.isa << " " << words[at + i];
    }
  }
}

/// Before any choice of instruction set, then with each that this CPU has.
template <typename Body> static void onEachIsa(Body body) {
  if (mtc_kernels_isa().empty())
    body();
  for (const char *isa : {"x86-64-v3", "x86-64-v4"})
    if (mtc_kernels_select_isa(isa).ok())
      body();
}

static std::vector<float> whole(const std::vector<int64_t> &shape, double dev) {
  int64_t n = 1;
  for (int64_t extent : shape)
    n *= extent;
  std::vector<int64_t> zero(shape.size(), 0);
  std::vector<float> out(static_cast<size_t>(n));
  EXPECT_TRUE(initNormal(out.data(), nameHash("layers.1.mlp.up.weight"), 1234,
                         dev, {shape, zero, shape})
                  .ok());
  return out;
}

TEST(Init, Moments) {
  std::vector<float> x = whole({1000, 1000}, 0.02);
  std::array<double, 5> m{};
  for (float v : x) {
    double z = v / 0.02, power = 1;
    for (double &moment : m) {
      moment += power / double(x.size());
      power *= z;
    }
  }
  // 5 standard errors of each moment of n = 1e6 normals: var of z, z^2, z^3,
  // z^4 is 1, 2, 15, 96.
  double unit = 5 / std::sqrt(double(x.size()));
  EXPECT_NEAR(m[1], 0, unit);
  EXPECT_NEAR(m[2], 1, unit * std::sqrt(2.0));
  EXPECT_NEAR(m[3], 0, unit * std::sqrt(15.0));
  EXPECT_NEAR(m[4], 3, unit * std::sqrt(96.0));
}

// An element is its own word's quantile, by global row-major index.
TEST(Init, ElementsFollowTheAddress) {
  PhiloxAddress at{1234, nameHash("layers.1.mlp.up.weight"), 0, 0};
  onEachIsa([&] {
    for (const std::vector<int64_t> &shape :
         {std::vector<int64_t>{3, 5, 7}, {2, 301}, {4096}}) {
      std::vector<float> x = whole(shape, 0.5);
      for (size_t i = 0; i < x.size(); ++i)
        EXPECT_EQ(x[i], float(0.5 * plainNormal(philoxWord(at, i))));
    }
  });
}

// Slabs whose rows begin anywhere in a block of words, cut anywhere.
TEST(Init, ThreadsChangeNoBit) {
  std::vector<int64_t> shape = {9, 211, 101}, begin = {2, 5, 7},
                       size = {5, 199, 90};
  auto filled = [&](int64_t threads) {
    std::vector<float> out(5 * 199 * 90 + 1, 7.0f);
    EXPECT_TRUE(
        initNormal(out.data(), 5, 6, 0.02, {shape, begin, size}, threads).ok());
    return out;
  };
  onEachIsa([&] {
    std::vector<float> one = filled(1);
    EXPECT_EQ(one.back(), 7.0f);
    for (int64_t threads : {2, 3, 5})
      EXPECT_EQ(filled(threads), one) << threads;
  });
}

TEST(Init, SlabsHoldTheSameBytes) {
  onEachIsa([] {
    std::vector<int64_t> shape = {5, 6, 7};
    std::vector<float> x = whole(shape, 0.02);
    for (int64_t b0 = 0; b0 < 5; b0 += 2)
      for (int64_t b1 = 0; b1 < 6; b1 += 3)
        for (int64_t b2 = 0; b2 < 7; b2 += 4) {
          std::vector<int64_t> begin = {b0, b1, b2};
          std::vector<int64_t> size = {std::min<int64_t>(2, 5 - b0), 3,
                                       std::min<int64_t>(4, 7 - b2)};
          std::vector<float> part(size_t(size[0] * size[1] * size[2]));
          ASSERT_TRUE(initNormal(part.data(),
                                 nameHash("layers.1.mlp.up.weight"), 1234, 0.02,
                                 {shape, begin, size})
                          .ok());
          size_t at = 0;
          for (int64_t i = b0; i < b0 + size[0]; ++i)
            for (int64_t j = b1; j < b1 + size[1]; ++j)
              for (int64_t k = b2; k < b2 + size[2]; ++k)
                EXPECT_EQ(part[at++], x[size_t((i * 6 + j) * 7 + k)]);
        }
  });
}

TEST(Init, RejectsSlabsOutside) {
  std::vector<int64_t> shape = {4}, begin = {2}, size = {3}, none;
  float out[4];
  EXPECT_EQ(initNormal(out, 1, 1, 1, {shape, begin, size}).code(),
            StatusCode::usage);
  EXPECT_EQ(initNormal(out, 1, 1, 1, {shape, none, size}).code(),
            StatusCode::usage);
  EXPECT_TRUE(initNormal(out, 1, 1, 1, {none, none, none}).ok());
  std::vector<int64_t> huge = {1 << 22, 1 << 21}, zero = {0, 0}, one = {1, 1};
  EXPECT_EQ(initNormal(out, 1, 1, 1, {huge, zero, one}).code(),
            StatusCode::usage);
}
