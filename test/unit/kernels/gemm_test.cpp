// GemmSet: all kernels, types, transposes and betas against double, repeats,
// errors.
#include "runtime/kernels/cpu/gemm.h"

#include "mtc/runtime/gemm_scratch.h"
#include "runtime/kernels/cpu/isa.h"
#include "runtime/kernels/cpu/norm.h"
#include "test/unit/half.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace mtc::runtime;
using namespace mtc::test;

namespace {

const char *bestIsa() {
  for (const char *isa : {"x86-64-v4-amx", "x86-64-v4-bf16", "x86-64-v4"})
    if (processorHas(isa))
      return isa;
  return "x86-64-v3";
}

struct Types {
  MtcDtype ab, c;
};

constexpr Types kTypes[] = {{MTC_F32, MTC_F32},
                            {MTC_BF16, MTC_F32},
                            {MTC_BF16, MTC_BF16},
                            {MTC_F16, MTC_F32},
                            {MTC_F16, MTC_F16}};

/// What multiplies operands of a type under an instruction set.
std::vector<GemmKernel> kernelsOf(MtcDtype ab, std::string_view isa) {
  if (isa == "x86-64-v3" || (isa == "x86-64-v4" && ab == MTC_BF16))
    return {GemmKernel::own};
  return {GemmKernel::library, GemmKernel::own, GemmKernel::innerProduct};
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

/// Values that the types of the product hold exactly.
Operands operandsOf(const GemmDesc &d) {
  Operands x{random(d.m * d.k, 1), random(d.k * d.n, 2), random(d.m * d.n, 3)};
  x.a = roundedTo(d.ab, x.a);
  x.b = roundedTo(d.ab, x.b);
  x.c = roundedTo(d.c, x.c);
  return x;
}

/// With `packed` in place of b, if there is one.
std::vector<float> runRow(GemmSet &set, int64_t index, const GemmDesc &d,
                          const Operands &x, const float *packed = nullptr) {
  std::vector<std::byte> a = storedAs(d.ab, x.a), b = storedAs(d.ab, x.b),
                         c = storedAs(d.c, x.c);
  std::vector<std::byte> scratch(size_t(set.scratchBytes(index)) + 64);
  auto at = (uintptr_t(scratch.data()) + 63) / 64 * 64;
  const void *read = packed ? static_cast<const void *>(packed) : b.data();
  EXPECT_TRUE(set.execute(index, a.data(), read, c.data(), (void *)at).ok());
  return valuesOf(d.c, c);
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
      // worst case of any order of summation; for operands of 16 bits, too,
      // whose products are exact in fp32. A result of 16 bits has one rounding
      // more: half a unit of its last place.
      double tolerance = double(d.k + 1) * 0x1p-24 * size;
      if (isHalf(d.c))
        tolerance += roundoffOf(d.c) * (std::fabs(sum) + tolerance) + 0x1p-25;
      ASSERT_NEAR(c[size_t(i * d.n + j)], sum, tolerance)
          << "m=" << d.m << " n=" << d.n << " k=" << d.k << " ta=" << d.ta
          << " tb=" << d.tb << " beta=" << d.beta << " ab=" << d.ab
          << " c=" << d.c;
    }
}

/// Of the shapes below, what inner_product has: no transpose of both, and in
/// f32 nothing of a single element, for which oneDNN has another kernel.
bool isInnerProduct(const GemmDesc &d) {
  return !(d.ta && d.tb) && (d.ab == MTC_BF16 || d.m * d.n * d.k > 1);
}

std::vector<GemmDesc> allRows(std::string_view isa) {
  std::vector<GemmDesc> rows;
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                         {7, 5, 3},
                         {64, 96, 128},
                         {33, 17, 101},
                         {70, 200, 150}})
    for (bool ta : {false, true})
      for (bool tb : {false, true})
        for (int beta : {0, 1})
          for (Types t : kTypes)
            for (GemmKernel kernel : kernelsOf(t.ab, isa))
              if (GemmDesc d{m, n, k, ta, tb, beta, t.ab, t.c, kernel};
                  kernel != GemmKernel::innerProduct || isInnerProduct(d))
                rows.push_back(d);
  return rows;
}

void runAll(const std::vector<GemmDesc> &rows, int threads = 1) {
  GemmSet set;
  Status status = set.create(rows, threads);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(set.size(), int64_t(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    Operands x = operandsOf(rows[i]);
    if (rows[i].beta == 0) // poisoned output: beta 0 must not read it
      std::fill(x.c.begin(), x.c.end(), NAN);
    expectMatches(rows[i], x, runRow(set, int64_t(i), rows[i], x));
  }
}

/// In bf16 256 + (1 + 2^-8) is above the middle of 256 and 258; with the
/// product rounded first, to 1, it would be the middle, which goes to 256. In
/// f16 so is 2048 + (1 + 2^-12) above that of 2048 and 2050.
void sumOnce(MtcDtype half, float before, float root, float behind,
             GemmKernel kernel) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 2},
                         {33, 17, 101},
                         {64, 96, 128},
                         {64, 256, 4096}}) {
    GemmDesc row{m, n, k, true, false, 1, half, half, kernel};
    Operands x{std::vector<float>(size_t(m * k)),
               std::vector<float>(size_t(k * n)),
               std::vector<float>(size_t(m * n), before)};
    std::fill_n(x.a.begin(), m, 1.0f);
    std::fill_n(x.a.end() - m, m, root);
    std::fill_n(x.b.begin(), n, 1.0f);
    std::fill_n(x.b.end() - n, n, root);
    GemmSet set;
    ASSERT_TRUE(set.create({&row, 1}, 1).ok());
    EXPECT_EQ(runRow(set, 0, row, x), std::vector<float>(x.c.size(), behind))
        << "m=" << m << " n=" << n << " k=" << k;
  }
}

/// Ends this process: 0 if all products are right under `isa`.
[[noreturn]] void exitAfterProducts(const char *isa) {
  if (!gemmSelectIsa(isa).ok())
    std::_Exit(2);
  runAll(allRows(isa));
  for (GemmKernel kernel : kernelsOf(MTC_BF16, isa))
    sumOnce(MTC_BF16, 256, 0x1p-4f, 258, kernel);
  for (GemmKernel kernel : kernelsOf(MTC_F16, isa))
    sumOnce(MTC_F16, 2048, 0x1p-6f, 2050, kernel);
  std::_Exit(testing::Test::HasFailure() ? 1 : 0);
}

/// A product that oneDNN has by a kernel that allocates, or not at all.
void expectRejected(const char *isa, MtcDtype ab) {
  GemmDesc desc{8, 8, 8, false, false, 0, ab, MTC_F32};
  int64_t bytes = 0;
  Status status = gemmScratchBytes(desc, 1, &bytes);
  EXPECT_EQ(status.code(), StatusCode::infeasible);
  EXPECT_NE(status.message().find("memory is planned"), std::string::npos);
  GemmSet set;
  EXPECT_EQ(set.create({&desc, 1}, 1).message(), status.message());
  EXPECT_EQ(mtc_gemm_scratch(isa, 8, 8, 8, 0, 0, 0, ab, MTC_F32, 1), -1);
  EXPECT_FALSE(isPlannedByLibrary(desc, 1));
}

/// Ends this process: 0 if under `isa` products of these types are rejected
/// with a reason, and those of f32 unless they are one of them are not.
[[noreturn]] void exitAfterRejections(const char *isa,
                                      std::vector<MtcDtype> types) {
  if (!gemmSelectIsa(isa).ok())
    std::_Exit(2);
  for (MtcDtype type : types)
    expectRejected(isa, type);
  bool hasF32 = !std::ranges::count(types, MTC_F32);
  EXPECT_EQ(mtc_gemm_scratch(isa, 8, 8, 8, 0, 0, 0, MTC_F32, MTC_F32, 1) >= 0,
            hasF32);
  std::_Exit(testing::Test::HasFailure() ? 1 : 0);
}

} // namespace

TEST_F(Gemm, TypesTransposesAndBetaAtOneTwoAndThreeThreads) {
  for (int threads : {1, 2, 3})
    runAll(allRows(bestIsa()), threads);
}

TEST_F(Gemm, RepeatsBitwise) {
  std::vector<GemmDesc> rows;
  for (Types t : kTypes)
    for (GemmKernel kernel : kernelsOf(t.ab, bestIsa())) {
      rows.push_back({128, 192, 768, false, true, 0, t.ab, t.c, kernel});
      rows.push_back({64, 64, 2048, true, false, 1, t.ab, t.c, kernel});
    }
  for (int threads : {1, 2}) {
    GemmSet first, second;
    ASSERT_TRUE(first.create(rows, threads).ok());
    ASSERT_TRUE(second.create(rows, threads).ok());
    for (size_t i = 0; i < rows.size(); ++i) {
      Operands x = operandsOf(rows[i]);
      std::vector<float> c = runRow(first, int64_t(i), rows[i], x);
      for (GemmSet *set : {&first, &second}) {
        std::vector<float> again = runRow(*set, int64_t(i), rows[i], x);
        EXPECT_EQ(std::memcmp(again.data(), c.data(), c.size() * sizeof(float)),
                  0)
            << i;
      }
    }
  }
}

TEST_F(Gemm, ScratchOfThePlannerIsScratchOfTheSet) {
  for (int threads : {1, 2})
    for (Types t : kTypes) {
      std::vector<GemmDesc> rows;
      for (GemmKernel kernel : kernelsOf(t.ab, bestIsa())) {
        rows.push_back({256, 768, 768, true, false, 1, t.ab, t.c, kernel});
        rows.push_back({1024, 1024, 64, false, false, 0, t.ab, t.c, kernel});
      }
      GemmSet set;
      ASSERT_TRUE(set.create(rows, threads).ok());
      for (size_t i = 0; i < rows.size(); ++i) {
        const GemmDesc &d = rows[i];
        int64_t bytes = -1;
        ASSERT_TRUE(gemmScratchBytes(d, threads, &bytes).ok());
        EXPECT_EQ(bytes, set.scratchBytes(int64_t(i)));
        EXPECT_EQ(gemmScratch(bestIsa(),
                              {d.m,
                               d.n,
                               d.k,
                               d.ta,
                               d.tb,
                               d.beta == 1,
                               d.ab,
                               d.c,
                               0,
                               {},
                               d.kernel},
                              threads),
                  bytes);
      }
    }
}

// Under the instruction set that was chosen; by as many threads as come.
TEST_F(Gemm, PackedBeforeByTheChosenInstructionSet) {
  for (Types t : kTypes)
    for (bool tb : {false, true}) {
      GemmDesc own{33, 101, 1100, false, tb, 1, t.ab, t.c, GemmKernel::own},
          packed = own;
      packed.kernel = GemmKernel::ownPacked;
      const PackedDesc desc{own.n, own.k, tb, t.ab};
      GemmSet set;
      ASSERT_TRUE(set.create(std::vector{own, packed}, 2).ok());
      Operands x = operandsOf(own);
      std::vector<float> expected = runRow(set, 0, own, x);
      int64_t bytes = 0;
      ASSERT_TRUE(gemmPackedBytes(desc, bestIsa(), &bytes).ok());
      std::vector<std::byte> b = storedAs(t.ab, x.b);
      std::vector<float> panels(size_t(bytes / 4 + 16));
      auto *to = (float *)((reinterpret_cast<uintptr_t>(panels.data()) + 63) /
                           64 * 64);
      ASSERT_TRUE(gemmPack(desc, 3, b.data(), to).ok());
      EXPECT_EQ(runRow(set, 1, packed, x, to), expected)
          << "tb=" << tb << " ab=" << t.ab << " c=" << t.c;
    }
}

TEST_F(Gemm, Errors) {
  GemmSet set;
  std::vector<GemmDesc> bad = {{0, 1, 1}}, good = {allRows(bestIsa()).front()},
                        beta = {{2, 2, 2, false, false, 2}};
  EXPECT_EQ(set.create(bad, 1).code(), StatusCode::usage);
  EXPECT_EQ(set.create(beta, 1).code(), StatusCode::usage);
  EXPECT_EQ(set.create(good, 0).code(), StatusCode::usage);
  ASSERT_TRUE(set.create(good, 1).ok());
  float x[4] = {};
  EXPECT_EQ(set.execute(1, x, x, x, nullptr).code(), StatusCode::usage);
  EXPECT_EQ(gemmLibraryVersion().substr(0, 2), "2.");
}

// Of a kernel of our own into f32, with a sum and nothing that continues it.
TEST_F(Gemm, ErrorsOfCounting) {
  GemmDesc counts{2, 3,        1,       false,           false,
                  0, MTC_BF16, MTC_F32, GemmKernel::own, true};
  GemmDesc bad[] = {counts, counts, counts};
  bad[0].kernel = GemmKernel::library;
  bad[1].c = MTC_BF16;
  bad[2].c = bad[2].ab = MTC_F16;
  bad[2].kernel = GemmKernel::ownPacked;
  const char *found[] = {"the library's m=2 n=3 k=1 beta=0 of bf16 into f32",
                         "our own m=2 n=3 k=1 beta=0 of bf16 into bf16",
                         "our own m=2 n=3 k=1 beta=0 of f16 into f16"};
  for (int i = 0; i < 3; ++i) {
    GemmSet set;
    Status status = set.create({&bad[i], 1}, 1);
    EXPECT_EQ(status.code(), StatusCode::usage);
    EXPECT_EQ(status.message(),
              std::string("expected a kernel of our own and a result in f32 "
                          "where its squares are counted, found ") +
                  found[i]);
    int64_t bytes = -1;
    EXPECT_EQ(gemmScratchBytes(bad[i], 1, &bytes).message(), status.message());
    EXPECT_EQ(bytes, -1);
  }
}

TEST_F(Gemm, ACountingProductNeedsASumAndNothingElse) {
  std::vector<GemmDesc> rows(
      3, {2, 3, 1, false, false, 0, MTC_F32, MTC_F32, GemmKernel::own});
  rows[1].counts = true;
  rows[2].kernel = kernelsOf(MTC_F32, bestIsa()).front();
  GemmSet set;
  ASSERT_TRUE(set.create(rows, 1).ok());
  ASSERT_EQ(set.scratchBytes(0), set.scratchBytes(1));
  std::vector<std::byte> scratch(
      size_t(std::max(set.scratchBytes(1), set.scratchBytes(2))) + 64);
  auto *at = reinterpret_cast<void *>(
      (reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
  const float a[2] = {1, -2}, b[3] = {3, 0.5f, -0x1p-60f};
  float c[6] = {7, 7, 7, 7, 7, 7};
  NormSum sum, expected;
  const GemmThen then{[](void *, int64_t, int64_t, int64_t, int64_t) {}};
  auto message = [&](GemmThen then, NormSum *squares) {
    Status status = set.execute(1, a, b, c, at, then, squares);
    EXPECT_EQ(status.code(), StatusCode::usage);
    EXPECT_EQ(c[0], 7);
    return status.message();
  };
  const std::string begin = "product 1: expected a sum for its squares, and "
                            "nothing that continues it, found ";
  EXPECT_EQ(message({}, nullptr), begin + "no sum");
  EXPECT_EQ(message(then, nullptr), begin + "no sum");
  EXPECT_EQ(message(then, &sum), begin + "both");
  // Others leave the sum as it is.
  for (int64_t other : {0, 2})
    EXPECT_TRUE(set.execute(other, a, b, c, at, {}, &sum).ok());
  EXPECT_TRUE(sum == NormSum());
  for (int times = 0; times < 2; ++times) {
    EXPECT_TRUE(set.execute(1, a, b, c, at, {}, &sum).ok());
    normAccumulate(expected, c, 6);
    EXPECT_TRUE(sum == expected);
  }
}

TEST_F(Gemm, IllegalTypes) {
  for (Types t : {Types{MTC_F32, MTC_BF16},
                  {MTC_F32, MTC_I32},
                  {MTC_I32, MTC_I32},
                  {MTC_BF16, MTC_F16},
                  {MTC_F16, MTC_BF16},
                  {MTC_BF16, MTC_I128}}) {
    GemmDesc row{2, 2, 2, false, false, 0, t.ab, t.c};
    int64_t bytes = 0;
    Status status = gemmScratchBytes(row, 1, &bytes);
    EXPECT_EQ(status.code(), StatusCode::usage);
    EXPECT_NE(
        status.message().find("of bf16 or f16 into f32 or the same, found"),
        std::string::npos)
        << status.message();
    EXPECT_EQ(mtc_gemm_scratch(bestIsa(), 2, 2, 2, 0, 0, 0, t.ab, t.c, 1), -1);
  }
}

TEST_F(Gemm, ABf16SumIsRoundedOnce) {
  for (GemmKernel kernel : kernelsOf(MTC_BF16, bestIsa()))
    sumOnce(MTC_BF16, 256, 0x1p-4f, 258, kernel);
}

TEST_F(Gemm, AnF16SumIsRoundedOnce) {
  for (GemmKernel kernel : kernelsOf(MTC_F16, bestIsa()))
    sumOnce(MTC_F16, 2048, 0x1p-6f, 2050, kernel);
}

// Not only near: f16 is a product in fp32 of the widened values, rounded once.
TEST_F(Gemm, F16IsFp32RoundedOnce) {
  std::vector<GemmDesc> rows;
  for (GemmDesc d : allRows(bestIsa()))
    if (d.ab == MTC_F16) {
      rows.push_back(d);
      d.ab = d.c = MTC_F32;
      rows.push_back(d);
    }
  GemmSet set;
  ASSERT_TRUE(set.create(rows, 1).ok());
  for (size_t i = 0; i < rows.size(); i += 2) {
    Operands x = operandsOf(rows[i]);
    EXPECT_EQ(runRow(set, int64_t(i), rows[i], x),
              roundedTo(rows[i].c, runRow(set, int64_t(i + 1), rows[i + 1], x)))
        << i;
    if (rows[i].kernel == GemmKernel::library) {
      EXPECT_GT(set.scratchBytes(int64_t(i)),
                4 * (rows[i].m + rows[i].n) * rows[i].k);
    }
  }
}

TEST_F(Gemm, InstructionSets) {
  Status status = gemmSelectIsa("sse2");
  EXPECT_EQ(status.code(), StatusCode::usage);
  for (const char *isa :
       {"x86-64-v3", "x86-64-v4 or", "x86-64-v4-bf16", "x86-64-v4-amx"})
    EXPECT_NE(status.message().find(isa), std::string::npos);
  EXPECT_TRUE(gemmSelectIsa(bestIsa()).ok()); // the same one again
  for (const char *isa : {"x86-64-v3", "x86-64-v4"})
    if (processorHas("x86-64-v4") && std::string(isa) != bestIsa()) {
      EXPECT_EQ(gemmSelectIsa(isa).code(), StatusCode::usage) << isa;
    }
}

// The products of other instruction sets than the fixture's, in processes of
// their own.
TEST(GemmDeathTest, WithoutUnitsForBf16) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  if (!processorHas("x86-64-v4"))
    GTEST_SKIP() << "this CPU lacks AVX-512";
  EXPECT_EXIT(exitAfterProducts("x86-64-v4"), testing::ExitedWithCode(0), "");
}

TEST(GemmDeathTest, TheLibraryHasNoKernelThatAllocates) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exitAfterRejections("x86-64-v3", {MTC_F32, MTC_BF16, MTC_F16}),
              testing::ExitedWithCode(0), "");
  if (processorHas("x86-64-v4")) {
    EXPECT_EXIT(exitAfterRejections("x86-64-v4", {MTC_BF16}),
                testing::ExitedWithCode(0), "");
  }
}
