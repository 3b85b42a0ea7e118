// GemmSet: all transposes and betas against double, repeats, errors.
#include "runtime/kernels/cpu/gemm.h"

#include "runtime/kernels/cpu/isa.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace mtc::runtime;

namespace {

const char *bestIsa() {
  return mtc_kernels_cpu_has("x86-64-v4") ? "x86-64-v4" : "x86-64-v3";
}

/// oneDNN takes its instruction set once per process.
class Gemm : public testing::Test {
protected:
  static void SetUpTestSuite() { ASSERT_TRUE(gemmSelectIsa(bestIsa()).ok()); }
};

std::vector<float> random(int64_t n, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<size_t>(n));
  for (float &v : x)
    v = normal(rng);
  return x;
}

struct Operands {
  std::vector<float> a, b, c;
};

Operands operandsOf(const GemmDesc &d) {
  return {random(d.m * d.k, 1), random(d.k * d.n, 2), random(d.m * d.n, 3)};
}

std::vector<float> runRow(GemmSet &set, int64_t index, const Operands &x) {
  std::vector<float> c = x.c;
  std::vector<std::byte> scratch(size_t(set.scratchBytes(index)) + 64);
  auto at = (uintptr_t(scratch.data()) + 63) / 64 * 64;
  EXPECT_TRUE(
      set.execute(index, x.a.data(), x.b.data(), c.data(), (void *)at).ok());
  return c;
}

void expectMatches(const GemmDesc &d, const Operands &x,
                   const std::vector<float> &c) {
  for (int64_t i = 0; i < d.m; ++i)
    for (int64_t j = 0; j < d.n; ++j) {
      double sum = d.beta ? x.c[size_t(i * d.n + j)] : 0.0;
      double size = std::fabs(sum);
      for (int64_t l = 0; l < d.k; ++l) {
        double a = x.a[size_t(d.ta ? l * d.m + i : i * d.k + l)];
        double b = x.b[size_t(d.tb ? j * d.k + l : l * d.n + j)];
        sum += a * b;
        size += std::fabs(a * b);
      }
      // k + 1 roundings of fp32, each of a partial sum of at most `size`, the
      // worst case of any order of summation.
      ASSERT_NEAR(c[size_t(i * d.n + j)], sum, double(d.k + 1) * 0x1p-24 * size)
          << "m=" << d.m << " n=" << d.n << " k=" << d.k << " ta=" << d.ta
          << " tb=" << d.tb << " beta=" << d.beta;
    }
}

} // namespace

TEST_F(Gemm, TransposesAndBeta) {
  std::vector<GemmDesc> rows;
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                         {7, 5, 3},
                         {64, 96, 128},
                         {33, 17, 100}})
    for (bool ta : {false, true})
      for (bool tb : {false, true})
        for (int beta : {0, 1})
          rows.push_back({m, n, k, ta, tb, beta});
  GemmSet set;
  ASSERT_TRUE(set.create(rows, 1).ok());
  ASSERT_EQ(set.size(), int64_t(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    Operands x = operandsOf(rows[i]);
    if (rows[i].beta == 0) // poisoned output: beta 0 must not read it
      std::fill(x.c.begin(), x.c.end(), NAN);
    Operands reference = x;
    expectMatches(rows[i], reference, runRow(set, int64_t(i), x));
  }
}

TEST_F(Gemm, RepeatsBitwise) {
  std::vector<GemmDesc> rows = {{128, 192, 768, false, true, 0},
                                {64, 64, 2048, true, false, 1}};
  for (int threads : {1, 2}) {
    GemmSet first, second;
    ASSERT_TRUE(first.create(rows, threads).ok());
    ASSERT_TRUE(second.create(rows, threads).ok());
    for (int64_t i = 0; i < 2; ++i) {
      Operands x = operandsOf(rows[size_t(i)]);
      std::vector<float> c = runRow(first, i, x);
      for (GemmSet *set : {&first, &second})
        EXPECT_EQ(std::memcmp(runRow(*set, i, x).data(), c.data(),
                              c.size() * sizeof(float)),
                  0);
    }
  }
}

TEST_F(Gemm, ScratchOfThePlannerIsScratchOfTheSet) {
  for (int threads : {1, 2}) {
    std::vector<GemmDesc> rows = {{256, 768, 768, true, false, 1},
                                  {1024, 1024, 64, false, false, 0}};
    GemmSet set;
    ASSERT_TRUE(set.create(rows, threads).ok());
    for (size_t i = 0; i < rows.size(); ++i) {
      int64_t bytes = -1;
      ASSERT_TRUE(gemmScratchBytes(rows[i], threads, &bytes).ok());
      EXPECT_EQ(bytes, set.scratchBytes(int64_t(i)));
    }
  }
}

TEST_F(Gemm, Errors) {
  GemmSet set;
  std::vector<GemmDesc> bad = {{0, 1, 1}}, good = {{2, 2, 2}},
                        beta = {{2, 2, 2, false, false, 2}};
  EXPECT_EQ(set.create(bad, 1).code(), StatusCode::usage);
  EXPECT_EQ(set.create(beta, 1).code(), StatusCode::usage);
  EXPECT_EQ(set.create(good, 0).code(), StatusCode::usage);
  ASSERT_TRUE(set.create(good, 1).ok());
  float x[4] = {};
  EXPECT_EQ(set.execute(1, x, x, x, nullptr).code(), StatusCode::usage);
  EXPECT_EQ(gemmSelectIsa("sse2").code(), StatusCode::usage);
  EXPECT_TRUE(gemmSelectIsa(bestIsa()).ok()); // the same one again
  if (mtc_kernels_cpu_has("x86-64-v4")) {
    EXPECT_EQ(gemmSelectIsa("x86-64-v3").code(), StatusCode::usage);
  }
  EXPECT_EQ(gemmLibraryVersion().substr(0, 2), "2.");
}
