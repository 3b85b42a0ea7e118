// OwnGemm: random products against double, at the edge of what may be read and
// written, with equal bits for every number of threads.
#include "test/unit/kernels/no_tiles.h"
#include "test/unit/kernels/own_products.h"

#include <atomic>
#include <chrono>
#include <span>
#include <thread>

using namespace mtc::runtime;
using namespace mtc::test;

namespace {

/// Sizes around those of panels and blocks, up to three blocks of k and two of
/// columns; at most about `terms` of them.
GemmDesc randomProduct(std::mt19937 &rng, int64_t terms) {
  auto below = [&](int64_t end) { return int64_t(rng() % uint64_t(end)); };
  auto draw = [&](int64_t most) {
    int64_t top = int64_t(1) << below(14);
    return 1 + below(std::min(top, most));
  };
  GemmDesc d;
  d.n = draw(7000);
  d.k = draw(std::min<int64_t>(7000, terms / d.n));
  d.m = draw(std::min<int64_t>(300, std::max<int64_t>(1, terms / d.n / d.k)));
  d.ta = below(2);
  d.tb = below(2);
  d.beta = int(below(2));
  Types types = kTypes[below(std::size(kTypes))];
  d.ab = types.ab;
  d.c = types.c;
  return d;
}

/// What is stored as [n, k], as [k, n].
std::vector<float> inRows(const std::vector<float> &of, int64_t k, int64_t n) {
  std::vector<float> rows(of.size());
  for (int64_t j = 0; j < n; ++j)
    for (int64_t l = 0; l < k; ++l)
      rows[size_t(l * n + j)] = of[size_t(j * k + l)];
  return rows;
}

/// k + 1 roundings of fp32, each of a partial sum of at most the sum of sizes:
/// the worst case of any order. A c of 16 bits has one rounding more, half a
/// unit of its last place.
void expectNear(const GemmDesc &d, const Operands &x,
                const std::vector<float> &c) {
  std::vector<double> sums(static_cast<size_t>(d.n)), sizes(sums.size());
  // In rows, which are read one after the other.
  const std::vector<float> b = d.tb ? inRows(x.b, d.k, d.n) : x.b;
  auto element = [](const std::vector<float> &of, int64_t at) {
    return double(of[size_t(at)]);
  };
  for (int64_t i = 0; i < d.m; ++i) {
    for (int64_t j = 0; j < d.n; ++j) {
      sums[size_t(j)] = d.beta ? element(x.c, i * d.n + j) : 0;
      sizes[size_t(j)] = std::fabs(sums[size_t(j)]);
    }
    for (int64_t l = 0; l < d.k; ++l) {
      double left = element(x.a, d.ta ? l * d.m + i : i * d.k + l);
      for (int64_t j = 0; j < d.n; ++j) {
        double term = left * element(b, l * d.n + j);
        sums[size_t(j)] += term;
        sizes[size_t(j)] += std::fabs(term);
      }
    }
    for (int64_t j = 0; j < d.n; ++j) {
      double bound = double(d.k + 1) * 0x1p-24 * sizes[size_t(j)];
      if (isHalf(d.c))
        bound +=
            roundoffOf(d.c) * (std::fabs(sums[size_t(j)]) + bound) + 0x1p-25;
      ASSERT_NEAR(c[size_t(i * d.n + j)], sums[size_t(j)], bound)
          << "row " << i << ", column " << j << " of " << name(d);
    }
  }
}

/// Columns [first, first + count) of what has n.
std::vector<float> columnsOf(const std::vector<float> &of, int64_t n,
                             int64_t first, int64_t count) {
  std::vector<float> some;
  for (size_t row = 0; row < of.size() / size_t(n); ++row) {
    auto begin = of.begin() + int64_t(row) * n + first;
    some.insert(some.end(), begin, begin + count);
  }
  return some;
}

/// Some columns at a time, not those of panels, as products of their own.
void expectColumnsAlone(const GemmDesc &d, const Operands &x,
                        std::string_view isa, const std::vector<float> &wide) {
  constexpr int64_t kSome = 150;
  for (int64_t first = 0; first < d.n; first += kSome) {
    GemmDesc some = d;
    some.n = std::min(kSome, d.n - first);
    auto of = [&](const std::vector<float> &all) {
      return columnsOf(all, d.n, first, some.n);
    };
    Operands alone{x.a, of(x.b), of(x.c)};
    EXPECT_EQ(valuesOf(d.c, product(some, alone, isa, 1)), of(wide))
        << isa << ", columns from " << first << " of " << name(d);
  }
}

} // namespace

TEST(OwnGemm, RandomProductsAtOneTwoAndThreeThreads) {
  std::mt19937 rng(20261127);
  int blocksOfK = 0, blocksOfColumns = 0, odd = 0;
  for (int i = 0; i < 500; ++i) {
    bool isLarge = i % 20 == 0;
    GemmDesc d = randomProduct(rng, isLarge ? 4000000 : 300000);
    Operands x = operandsOf(d, rng);
    blocksOfK += d.k > 2048;
    blocksOfColumns += d.n > 3072;
    odd += d.k % 2 == 1 && d.m % 8 != 0 && d.n % 16 != 0;
    std::vector<std::byte> wide;
    for (std::string_view isa : kIsas) {
      if (!processorHas(isa))
        continue;
      std::vector<std::byte> one = product(d, x, isa, 1);
      // How work is divided has little to do with the instruction set.
      for (int threads : {2, 3})
        if (isLarge || std::ranges::count(isasOfBits(d.ab), isa)) {
          ASSERT_EQ(product(d, x, isa, threads), one)
              << isa << ", " << threads << " threads: " << name(d);
        }
      if (i % 4 == 0) {
        SCOPED_TRACE(name(d));
        expectContinued(d, x, isa, isLarge ? 2 : 3, one);
      }
      if (wide.empty() || !isWidened(d))
        expectNear(d, x, valuesOf(d.c, one));
      if (isWidened(d) && !wide.empty()) {
        ASSERT_EQ(one, wide) << isa << ": " << name(d);
      }
      wide = one;
      if (HasFatalFailure())
        return;
    }
  }
  // What is drawn has all that can be cut and all that can be an edge.
  EXPECT_GT(blocksOfK, 20);
  EXPECT_GT(blocksOfColumns, 20);
  EXPECT_GT(odd, 100);
}

// What no thread's rows are divided among, and what has fewer panels of rows
// than threads.
TEST(OwnGemm, FewRowsAreSplitByColumns) {
  std::mt19937 rng(1);
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 500, 70},
                         {3, 96, 2100},
                         {8, 6400, 17},
                         {9, 47, 2100},
                         {8, 7000, 2100},
                         {500, 1, 33}})
    for (Types t : kTypes) {
      GemmDesc d{m, n, k, false, true, 1, t.ab, t.c};
      Operands x = operandsOf(d, rng);
      for (std::string_view isa : isasOfBits(t.ab)) {
        std::vector<std::byte> one = product(d, x, isa, 1);
        expectNear(d, x, valuesOf(d.c, one));
        for (int threads : {2, 3, 5, 8})
          EXPECT_EQ(product(d, x, isa, threads), one)
              << isa << ", " << threads << " threads: " << name(d);
      }
    }
}

// The last panels are in no share: of sixteen panels and more, where sums are
// of one block of k (the last shape has two). Edges in both directions.
TEST(OwnGemm, TheTailHasTheBitsOfOneThread) {
  std::mt19937 rng(4);
  for (auto [m, n, k] : {std::array<int64_t, 3>{300, 768, 40},
                         {257, 800, 33},
                         {128, 1601, 20},
                         {200, 2900, 17},
                         {192, 960, 200},
                         {130, 768, 1100}})
    for (Types t : kTypes)
      for (bool ta : {false, true}) {
        GemmDesc d{m, n, k, ta, !ta, ta, t.ab, t.c};
        Operands x = operandsOf(d, rng);
        for (std::string_view isa : isasOfBits(t.ab)) {
          std::vector<std::byte> one = product(d, x, isa, 1);
          for (int threads : {2, 3, 4}) {
            SCOPED_TRACE(threads);
            EXPECT_EQ(product(d, x, isa, threads), one) << isa << name(d);
            expectContinued(d, x, isa, threads, one);
          }
        }
      }
}

// Where equal shares of the other panels would leave most of them, or all, to
// the tail, there is none.
TEST(OwnGemm, ManyThreadsHaveSharesOfFewPanels) {
  std::mt19937 rng(6);
  for (int64_t n : {768, 816, 2304})
    for (int threads : {5, 8, 11, 16, 24}) {
      GemmDesc d{64 * threads, n, 5, false, true, 0, MTC_F32, MTC_F32};
      Operands x = operandsOf(d, rng);
      EXPECT_EQ(product(d, x, kBest, threads), product(d, x, kBest, 1))
          << threads << " threads: " << name(d);
    }
}

namespace {
/// Who made what of the tail while one thread was kept from its work.
struct Late {
  int64_t tail, elements; ///< its first column, and all that it has
  std::atomic<std::thread::id> kept;
  std::atomic<int64_t> made, madeByKept;

  static void see(void *argument, int64_t row, int64_t rowEnd, int64_t column,
                  int64_t columnEnd) {
    Late &late = *static_cast<Late *>(argument);
    const std::thread::id self = std::this_thread::get_id();
    std::thread::id none;
    if (column >= late.tail) {
      int64_t count = (rowEnd - row) * (columnEnd - column);
      late.madeByKept += late.kept == self ? count : 0;
      late.made += count;
    } else if (late.kept.compare_exchange_strong(none, self)) {
      late.wait();
    }
  }
  /// Until others are done with the tail, or for ten seconds.
  void wait() const {
    for (int i = 0; i < 10000 && made < elements; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};
} // namespace

TEST(OwnGemm, AThreadThatIsLateLeavesTheTailToOthers) {
  std::mt19937 rng(5);
  GemmDesc d{512, 1536, 16, false, true, 0, MTC_F32, MTC_F32};
  Operands x = operandsOf(d, rng);
  Guarded a(storedAs(d.ab, x.a)), b(storedAs(d.ab, x.b)), c(storedAs(d.c, x.c));
  OwnGemm own(d, 2, kBest);
  Guarded scratch(size_t(own.scratchBytes()));
  Late late{1536 - 96, 512 * 96, {}, 0, 0};
  own.run(a.begin, b.begin, c.begin, reinterpret_cast<float *>(scratch.begin),
          {Late::see, &late});
  EXPECT_EQ(late.made, late.elements);
  EXPECT_EQ(late.madeByKept, 0);
}

// Lines past the caches, and what goes the other way: a part of a line, rows
// that begin inside of one, results of 16 bits, sums of two blocks of k. That
// others see them behind a meeting (the fence) no test can show.
TEST(OwnGemm, StreamedResultsHaveTheBitsOfOthers) {
  std::mt19937 rng(2);
  for (auto [m, n, k] : {std::array<int64_t, 3>{9, 96, 40},
                         {8, 64, 17},
                         {70, 112, 16},
                         {3, 50, 33},
                         {20, 1000, 64},
                         {9, 144, 2500},
                         {112, 96, 40},
                         {192, 768, 16},
                         {3200, 48, 16}})
    for (Types t : kTypes)
      for (int beta : {0, 1}) {
        GemmDesc d{m, n, k, true, false, beta, t.ab, t.c, GemmKernel::own};
        Operands x = operandsOf(d, rng);
        for (std::string_view isa : isasHere()) {
          d.kernel = GemmKernel::own;
          const auto expected = product(d, x, isWidened(d) ? kBest : isa, 1);
          d.kernel = GemmKernel::ownStreamed;
          for (int threads : {1, 2, 3})
            EXPECT_EQ(product(d, x, isa, threads), expected)
                << isa << ", " << threads << " threads: " << name(d);
        }
      }
}

// Panels of op(b) that lie across k in memory are packed by the product that
// reads them first, others before it. Of several blocks of k, sums that wait,
// rows in parts, tails, and columns that are no whole panels.
TEST(OwnGemm, PanelsPackedByTheWayHaveTheBitsOfOthers) {
  std::mt19937 rng(7);
  for (auto [m, n, k] : {std::array<int64_t, 3>{64, 96, 1100},
                         {70, 144, 2100},
                         {17, 144, 2500},
                         {9, 48, 1030},
                         {192, 768, 24},
                         {257, 960, 40},
                         {8, 2400, 1030},
                         {1, 960, 48},
                         {100, 1540, 16}})
    for (Types t : kTypes) {
      if (t.ab == MTC_F16) // is widened: none is packed by the way
        continue;
      GemmDesc d{m, n, k, false, false, 0, t.ab, t.c, GemmKernel::own};
      Operands x = operandsOf(d, rng);
      GemmDesc turned = d;
      turned.tb = true;
      for (std::string_view isa : kIsas) {
        if (!processorHas(isa))
          continue;
        const auto expected = product(turned, withTurnedB(d, x), isa, 1);
        for (int threads : {1, 2, 3, 4})
          ASSERT_EQ(product(d, x, isa, threads), expected)
              << isa << ", " << threads << " threads: " << name(d);
        SCOPED_TRACE(testing::Message() << isa << ": " << name(d));
        expectContinued(d, x, isa, 3, expected);
        GemmDesc streamed = d;
        streamed.kernel = GemmKernel::ownStreamed;
        EXPECT_EQ(product(streamed, x, isa, 2), expected) << name(d);
        d.beta = turned.beta = 1;
        EXPECT_EQ(product(d, x, isa, 2),
                  product(turned, withTurnedB(d, x), isa, 1))
            << isa << ": " << name(d);
        d.beta = turned.beta = 0;
      }
    }
}

// Tiles make columns of more panels than a core's cache has room for some at a
// time, and finish a block beside the next one: of several such times, with an
// edge of rows and of columns, sums that wait, and bf16 that adds to c.
TEST(OwnGemm, WideBlocksHaveTheBitsOfTheirColumnsAlone) {
  std::mt19937 rng(5);
  for (auto [m, n, k] : {std::array<int64_t, 3>{531, 521, 1999},
                         {600, 590, 2100},
                         {300, 297, 3000}})
    for (Types t : {Types{MTC_BF16, MTC_F32}, Types{MTC_BF16, MTC_BF16}})
      for (int beta : {0, 1}) {
        GemmDesc d{m, n, k, true, false, beta, t.ab, t.c, GemmKernel::own};
        Operands x = operandsOf(d, rng);
        for (std::string_view isa : isasHere()) {
          std::vector<float> wide = valuesOf(d.c, product(d, x, isa, 2));
          expectColumnsAlone(d, x, isa, wide);
        }
      }
}

// The order of docs/numerics.md, term by term: in a step of 32 those of even
// and of odd place, then both, then the steps.
TEST(OwnGemm, TilesAddEvenAndOddTermsOfAStep) {
  if (!processorHas("x86-64-v4-amx"))
    GTEST_SKIP() << "this CPU lacks AMX";
  std::mt19937 rng(11);
  GemmDesc d{37, 41, 333, true, false, 0, MTC_BF16, MTC_F32, GemmKernel::own};
  Operands x = operandsOf(d, rng);
  std::vector<float> found = valuesOf(d.c, product(d, x, "x86-64-v4-amx", 2));
  for (int64_t i = 0; i < d.m; ++i)
    for (int64_t j = 0; j < d.n; ++j) {
      float sum = 0;
      for (int64_t step = 0; step < d.k; step += 32) {
        float places[2] = {};
        for (int64_t k = step; k < std::min(step + 32, d.k); ++k)
          places[k % 2] = std::fma(x.a[size_t(k * d.m + i)],
                                   x.b[size_t(k * d.n + j)], places[k % 2]);
        sum += places[0] + places[1];
      }
      ASSERT_EQ(found[size_t(i * d.n + j)], sum) << i << ", " << j;
    }
  EXPECT_TRUE(hasNoTiles());
}

// What is beyond an edge of a panel is multiplied, too, and must not show.
TEST(OwnGemm, WhatIsNotFiniteStaysInItsRowAndColumn) {
  std::mt19937 rng(3);
  for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                         {9, 47, 33},
                         {17, 97, 2051},
                         {70, 50, 7}})
    for (Types t : kTypes)
      for (int form = 0; form < 4; ++form) {
        GemmDesc d{m, n, k, (form & 1) != 0, (form & 2) != 0, 0, t.ab, t.c};
        Operands x = operandsOf(d, rng), wrong = x;
        // The last term of the last row and column, at the edge of all panels.
        wrong.a[size_t(d.ta ? (k - 1) * m + m - 1 : m * k - 1)] = INFINITY;
        wrong.b[size_t(d.tb ? n * k - 1 : (k - 1) * n + n - 1)] = NAN;
        for (std::string_view isa : isasOfBits(t.ab)) {
          std::vector<float> clean = valuesOf(d.c, product(d, x, isa, 2)),
                             found = valuesOf(d.c, product(d, wrong, isa, 2));
          for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j) {
              float value = found[size_t(i * n + j)];
              if (i == m - 1 || j == n - 1)
                ASSERT_FALSE(std::isfinite(value)) << i << ", " << j << name(d);
              else
                ASSERT_EQ(value, clean[size_t(i * n + j)])
                    << i << ", " << j << name(d);
            }
        }
      }
}

// The planner asks for another processor than its own: a pure function.
TEST(OwnGemm, ScratchIsPlannedForAnyProcessor) {
  for (std::string_view isa : kIsas)
    for (Types t : kTypes) {
      GemmDesc d{1024, 768, 5000, true, false, 1, t.ab, t.c};
      int64_t one = OwnGemm(d, 1, isa).scratchBytes();
      EXPECT_EQ(one, OwnGemm(d, 1, isa).scratchBytes());
      EXPECT_LE(one, OwnGemm(d, 2, isa).scratchBytes());
      // A c of 16 bits has its sums of several blocks in fp32, of so many
      // columns at a time that they do not grow with a vocabulary.
      GemmDesc wide{512, 50304, 5000, false, true, 0, t.ab, t.c}, exact = wide;
      exact.c = MTC_F32;
      EXPECT_LE(OwnGemm(wide, 2, isa).scratchBytes() -
                    OwnGemm(exact, 2, isa).scratchBytes(),
                4 * wide.m * (3072 + 2 * 48));
      d.c = MTC_F32;
      if (isHalf(t.c)) {
        EXPECT_EQ(one - OwnGemm(d, 1, isa).scratchBytes(), 4 * d.m * d.n);
      }
    }
}
