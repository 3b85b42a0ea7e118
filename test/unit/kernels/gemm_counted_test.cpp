// Products that count have the bits of those that do not, and add to a sum what
// normAccumulate would of what they made, to the limb: of values that fit a
// window, that fit none, and that fit one from piece to piece.
#include "test/unit/kernels/own_products.h"

#include "runtime/kernels/cpu/isa.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

using namespace mtc::runtime;
using namespace mtc::test;

namespace {

/// What makes it hard to count.
enum class Data {
  plain,     ///< magnitudes of one size
  oneValue,  ///< the largest of a window, each time
  rowsApart, ///< neighbouring rows, 2^40
  pieces,    ///< windows fit, and then no more
  zeros,     ///< half of the rows, or all
  subnormal,
  huge, ///< near the largest of fp32
  notFinite,
  notFiniteAmongHuge,
};
constexpr int kData = 9;

bool isFinite(Data data) { return data < Data::notFinite; }

float timesPowerOf2(float x, int exponent, MtcDtype type) {
  // In f16 as far as it goes.
  int most = type == MTC_F16 ? 12 : 127;
  return std::ldexp(x, std::clamp(exponent, -most, most));
}

/// Multiplies element (i, j) of c, and what is added to it, by
/// 2^(row(i) + column(j)).
template <typename Row, typename Column>
void scale(const GemmDesc &d, Operands &x, Row row, Column column) {
  for (int64_t l = 0; l < d.k; ++l) {
    for (int64_t i = 0; i < d.m; ++i) {
      float &a = x.a[size_t(d.ta ? l * d.m + i : i * d.k + l)];
      a = timesPowerOf2(a, row(i), d.ab);
    }
    for (int64_t j = 0; j < d.n; ++j) {
      float &b = x.b[size_t(d.tb ? j * d.k + l : l * d.n + j)];
      b = timesPowerOf2(b, column(j), d.ab);
    }
  }
  for (int64_t i = 0; i < d.m; ++i)
    for (int64_t j = 0; j < d.n; ++j) {
      float &c = x.c[size_t(i * d.n + j)];
      c = std::ldexp(c, row(i) + column(j));
    }
}

void fillZeroRows(const GemmDesc &d, Operands &x, uint32_t mask) {
  for (int64_t i = 0; i < d.m; ++i)
    if (mask >> i % 32 & 1) {
      for (int64_t l = 0; l < d.k; ++l)
        x.a[size_t(d.ta ? l * d.m + i : i * d.k + l)] = 0;
      std::fill_n(x.c.begin() + i * d.n, d.n, -0.0f);
    }
}

/// 2^24 - 1 of 2^28 units of the first window, in c, or sums of ones.
void fillOneValue(const GemmDesc &d, Operands &x) {
  std::ranges::fill(x.a, d.beta ? 0.0f : 1.0f);
  std::ranges::fill(x.b, 1.0f);
  for (float &c : x.c)
    c = std::copysign(std::nextafter(1.0f, 0.0f), c);
}

/// Rows and columns of pieces, by AVX-512.
int ofPiece(int64_t i, int64_t size, uint32_t seed) {
  constexpr int kExponents[] = {0, 0, 0, 1, -3, 27, -31, 40, -45};
  std::minstd_rand rng(seed + uint32_t(i / size));
  return kExponents[rng() % std::size(kExponents)];
}

void makeHuge(const GemmDesc &d, Operands &x) {
  int terms = int(std::bit_width(uint64_t(d.k)));
  scale(
      d, x, [](int64_t) { return 63; },
      [terms](int64_t) { return 64 - terms; });
  for (float &c : x.c)
    c = std::ldexp(c, terms - 1);
}

void makeNotFinite(Operands &x, bool readsC, std::mt19937 &rng) {
  std::array<std::vector<float> *, 3> all = {&x.a, &x.b, &x.c};
  std::vector<float> &of = *all[rng() % (readsC ? 3 : 2)];
  of[rng() % of.size()] = rng() % 2 ? NAN : INFINITY;
}

Operands operandsOf(GemmDesc &d, Data data, std::mt19937 &rng) {
  bool isFar = data == Data::subnormal || data == Data::huge ||
               data == Data::notFiniteAmongHuge;
  // What f16 has no range for comes from c.
  if (isFar && d.ab == MTC_F16)
    d.beta = 1;
  Operands x = mtc::test::operandsOf(d, rng);
  uint32_t seed = uint32_t(rng());
  if (d.beta == 1 && (isFar ? d.ab == MTC_F16 : seed % 2 == 1))
    std::ranges::fill(x.a, 0.0f);
  auto none = [](int64_t) { return 0; };
  if (data == Data::oneValue)
    fillOneValue(d, x);
  else if (data == Data::rowsApart)
    scale(
        d, x, [](int64_t i) { return i % 2 ? 20 : -20; }, none);
  else if (data == Data::pieces)
    scale(
        d, x, [=](int64_t i) { return ofPiece(i, 128, seed); },
        [=](int64_t j) { return ofPiece(j, 96, seed + 100); });
  else if (data == Data::zeros)
    fillZeroRows(d, x, seed % 3 == 0 ? ~uint32_t{0} : seed);
  else if (data == Data::subnormal)
    scale(
        d, x, [](int64_t) { return -70; }, [](int64_t) { return -71; });
  else if (isFar)
    makeHuge(d, x);
  if (!isFinite(data))
    makeNotFinite(x, d.beta == 1, rng);
  return x;
}

/// A third of k has several blocks, half of n are whole panels; of each five
/// one has a tail.
GemmDesc randomCounted(std::mt19937 &rng, bool hasTail) {
  auto below = [&](int64_t end) { return int64_t(rng() % uint64_t(end)); };
  GemmDesc d;
  d.n = below(2) ? 48 * (1 + below(14)) : 1 + below(600);
  d.k = below(3) ? 1 + below(int64_t(1) << below(11)) : 1025 + below(1476);
  d.m = 1 + below(std::clamp<int64_t>(3000000 / (d.n * d.k), 9, 300));
  if (hasTail)
    d = {192 + below(100), 768 + below(800), 1 + below(40)};
  d.ta = below(2);
  d.tb = below(2);
  d.beta = int(below(2));
  constexpr MtcDtype kOperands[] = {MTC_F32, MTC_BF16, MTC_F16};
  d.ab = kOperands[below(3)];
  constexpr GemmKernel kKernels[] = {GemmKernel::own, GemmKernel::ownStreamed,
                                     GemmKernel::ownPacked};
  d.kernel = kKernels[below(3)];
  return d;
}

/// By one, two and three threads; returns the sum. Rows that no window takes
/// are added by the norm's kernels of the same instruction set.
NormSum expectCounted(const GemmDesc &d, const Operands &x,
                      std::string_view isa) {
  EXPECT_TRUE(mtc_kernels_select_isa(isa).ok());
  const std::vector<std::byte> expected = product(d, x, isa, 1);
  const std::vector<float> c = valuesOf(MTC_F32, expected);
  const float before[] = {3, std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::denorm_min()};
  NormSum held, sum;
  normAccumulate(held, before, 3);
  sum = held;
  normAccumulate(sum, c.data(), int64_t(c.size()));
  GemmDesc counted = d;
  counted.counts = true;
  for (int threads : {1, 2, 3}) {
    SCOPED_TRACE(testing::Message() << isa << ", " << threads << " threads: "
                                    << name(d) << " kernel=" << int(d.kernel));
    NormSum found = held;
    EXPECT_TRUE(product(counted, x, isa, threads, 2, &found) == expected);
    EXPECT_EQ(found.finite(), sum.finite());
    // What the other limbs of a sum are that is not finite says nobody.
    EXPECT_TRUE(found == sum || !sum.finite());
  }
  return sum;
}

} // namespace

TEST(CountedGemm, RandomProductsAddTheNormOfWhatTheyMake) {
  std::mt19937 rng(20261129);
  int blocksOfK = 0, odd = 0, tails = 0, pieces = 0;
  for (int i = 0; i < 126 && !HasFailure(); ++i) {
    GemmDesc d = randomCounted(rng, i % 5 == 0);
    auto data = Data(i % kData);
    Operands x = operandsOf(d, data, rng);
    SCOPED_TRACE(testing::Message() << "data " << int(data));
    blocksOfK += d.k > (d.ab == MTC_BF16 ? 2048 : 1024);
    odd += d.n % 48 != 0 && d.m % 8 != 0;
    tails += d.m >= 192 && d.n >= 768;
    pieces += d.m > 128 || d.n > 96;
    for (std::string_view isa : isasHere())
      EXPECT_EQ(expectCounted(d, x, isa).finite(), isFinite(data)) << name(d);
  }
  EXPECT_GT(blocksOfK, 15);
  EXPECT_GT(odd, 40);
  EXPECT_GT(tails, 20);
  EXPECT_GT(pieces, 80);
}

// Each kernel, transpose, beta and type, with several blocks of k and with a
// tail; the second has a last panel of one column.
TEST(CountedGemm, AllFormsAddTheNormOfWhatTheyMake) {
  std::mt19937 rng(21);
  for (auto [m, n, k] :
       {std::array<int64_t, 3>{9, 144, 2065}, {193, 769, 3}, {137, 97, 1030}})
    for (MtcDtype type : {MTC_F32, MTC_BF16, MTC_F16})
      for (int form = 0; form < 8; ++form)
        for (GemmKernel kernel : {GemmKernel::own, GemmKernel::ownStreamed,
                                  GemmKernel::ownPacked}) {
          GemmDesc d{m,        n,    k,       (form & 1) != 0, (form & 2) != 0,
                     form / 4, type, MTC_F32, kernel};
          Operands x = mtc::test::operandsOf(d, rng);
          for (std::string_view isa : isasOfBits(type))
            EXPECT_TRUE(expectCounted(d, x, isa).finite());
          if (HasFailure())
            return;
        }
}

// All rows that a thread has of two panels are more than one window could sum
// up: of squares whose upper or lower halves are as large as can be.
TEST(CountedGemm, ManyRowsOfLargeSquaresAreSeveralWindows) {
  std::mt19937 rng(22);
  for (int shift : {2, 28})
    for (GemmKernel kernel : {GemmKernel::own, GemmKernel::ownPacked})
      for (bool ta : {false, true}) {
        GemmDesc d{1500, 96, 1, ta, false, 1, MTC_F32, MTC_F32, kernel};
        Operands x = mtc::test::operandsOf(d, rng);
        std::ranges::fill(x.a, 0.0f);
        std::ranges::fill(x.c, std::ldexp(float(0xffffff), shift - 52));
        EXPECT_TRUE(expectCounted(d, x, kBest).finite());
      }
}

// What another product left, or did not count.
TEST(CountedGemm, SumsStayWhatTheyAre) {
  std::mt19937 rng(23);
  GemmDesc d{20, 100, 30, false, true, 0, MTC_F32, MTC_F32, GemmKernel::own};
  Operands x = mtc::test::operandsOf(d, rng);
  const float bad = NAN;
  NormSum none, notFinite;
  normAccumulate(notFinite, &bad, 1);
  (void)product(d, x, kBest, 2, 1, &none);
  EXPECT_TRUE(none == NormSum());
  d.counts = true;
  (void)product(d, x, kBest, 2, 1, &notFinite);
  EXPECT_FALSE(notFinite.finite());
}
