// OwnGemm as it is cut for each kind of second-level cache: the same bits, the
// same scratch, blocks in the order that is meant.
#include "test/unit/kernels/own_products.h"

#include <array>
#include <fstream>

using namespace mtc::runtime;
using namespace mtc::test;

namespace {

constexpr SecondLevel kCaches[] = {SecondLevel::usual, SecondLevel::large};

/// Instruction sets that have one for each, in some type.
constexpr std::string_view kTwoWays[] = {"x86-64-v4", "x86-64-v4-bf16"};
constexpr GemmKernel kKernels[] = {GemmKernel::own, GemmKernel::ownStreamed,
                                   GemmKernel::ownPacked};

struct Shape {
  int64_t m, n, k;
};
/// Odd sizes, several blocks of k, of columns and of packed rows, tails; of
/// some op(b) is packed by the team, if op(a) is transposed.
constexpr Shape kShapes[] = {{70, 144, 1100}, {17, 500, 1030}, {201, 800, 41},
                             {9, 47, 2100},   {201, 96, 520},  {500, 49, 17},
                             {200, 768, 33},  {65, 300, 1025}};

/// One of the forms of a product: transposes, and whether it is added.
GemmDesc formOf(const Shape &s, Types t, int form) {
  return {.m = s.m,
          .n = s.n,
          .k = s.k,
          .ta = (form & 1) != 0,
          .tb = (form & 2) != 0,
          .beta = form >> 2 & 1,
          .ab = t.ab,
          .c = t.c,
          .kernel = GemmKernel::own};
}

void expectSameBits(GemmDesc d, const Operands &x, std::string_view isa,
                    int threads, GemmKernel kernel) {
  const auto expected = product(d, x, isa, 1, 1, nullptr, SecondLevel::usual);
  for (SecondLevel cache : kCaches) {
    SCOPED_TRACE(testing::Message() << isa << ", cache " << int(cache) << ", "
                                    << threads << " threads: " << name(d));
    d.kernel = kernel;
    ASSERT_EQ(product(d, x, isa, threads, 1, nullptr, cache), expected);
    d.kernel = GemmKernel::own;
    if (kernel == GemmKernel::own)
      expectContinued(d, x, isa, threads, expected, 1, cache);
  }
}

/// First and last of the rows and columns of a block.
using Range = std::array<int64_t, 4>;

/// Those that are told of a continued product on one thread.
std::vector<Range> blocksOf(const GemmDesc &d, std::string_view isa,
                            SecondLevel cache) {
  std::mt19937 rng(5);
  Operands x = mtc::test::operandsOf(d, rng);
  Guarded a(storedAs(d.ab, x.a)), b(storedAs(d.ab, x.b)), c(storedAs(d.c, x.c));
  OwnGemm own(d, 1, isa, cache);
  Guarded scratch(size_t(own.scratchBytes()));
  std::vector<Range> blocks;
  auto see = [](void *to, int64_t row, int64_t rowEnd, int64_t column,
                int64_t columnEnd) {
    static_cast<std::vector<Range> *>(to)->push_back(
        {row, rowEnd, column, columnEnd});
  };
  own.run(a.begin, b.begin, c.begin, reinterpret_cast<float *>(scratch.begin),
          {see, &blocks});
  return blocks;
}

// Rows of op(a) that the team packs, which pass by a panel of op(b) or by all;
// those that lie in memory as they are read; those that a thread packs.
const GemmDesc kPackedRows{128, 192, 40, true, false, 0};
const GemmDesc kPlainRows{64, 96, 1024, false, true, 0};
const GemmDesc kOwnRows{192, 96, 40, true, false, 0};

} // namespace

TEST(OwnCaches, ProductsHaveTheSameBits) {
  std::mt19937 rng(20261129);
  int turn = 0; // all kernels with all numbers of threads
  for (const Shape &s : kShapes)
    for (Types t : kTypes)
      for (int form = 0; form < 8; ++form) {
        GemmDesc d = formOf(s, t, form);
        Operands x = operandsOf(d, rng);
        for (std::string_view isa : kTwoWays) {
          if (processorHas(isa))
            expectSameBits(d, x, isa, turn % 3 + 1, kKernels[turn / 3 % 3]);
          turn = (turn + 1) % 9;
          if (HasFailure())
            return;
        }
      }
}

TEST(OwnCaches, SquaresHaveTheSameSum) {
  std::mt19937 rng(8);
  for (const Shape &s : kShapes)
    for (bool ta : {false, true}) {
      GemmDesc d = formOf(s, {MTC_F32, MTC_F32}, ta ? 1 : 0);
      d.counts = true;
      Operands x = operandsOf(d, rng);
      for (std::string_view isa : isasHere()) {
        NormSum sums[2]{};
        std::vector<std::byte> made[2];
        for (int i : {0, 1})
          made[i] = product(d, x, isa, 2, 1, &sums[i], kCaches[i]);
        EXPECT_EQ(made[0], made[1]) << isa << name(d);
        EXPECT_EQ(std::memcmp(&sums[0], &sums[1], sizeof(NormSum)), 0)
            << isa << name(d);
      }
    }
}

// A plan is made on another machine than that which runs it.
TEST(OwnCaches, ScratchIsEnoughForEach) {
  for (const Shape &s : kShapes)
    for (Types t : kTypes)
      for (int form = 0; form < 8; ++form)
        for (std::string_view isa : kIsas)
          for (int threads : {1, 2, 5}) {
            GemmDesc d = formOf(s, t, form);
            EXPECT_EQ(
                OwnGemm(d, threads, isa, SecondLevel::usual).scratchBytes(),
                OwnGemm(d, threads, isa, SecondLevel::large).scratchBytes())
                << isa << ", " << threads << " threads: " << name(d);
          }
}

TEST(OwnCaches, BlocksOfAUsualOneAreInTheirOrder) {
  if (!processorHas("x86-64-v4"))
    GTEST_SKIP() << "this CPU lacks AVX-512";
  auto blocks = [](const GemmDesc &d) {
    return blocksOf(d, "x86-64-v4", SecondLevel::usual);
  };
  EXPECT_EQ(blocks(kPackedRows), (std::vector<Range>{{0, 64, 0, 96},
                                                     {64, 128, 0, 96},
                                                     {0, 64, 96, 192},
                                                     {64, 128, 96, 192}}));
  EXPECT_EQ(blocks(kPlainRows),
            (std::vector<Range>{{0, 64, 0, 48}, {0, 64, 48, 96}}));
  EXPECT_EQ(blocks(kOwnRows),
            (std::vector<Range>{
                {0, 64, 0, 96}, {64, 128, 0, 96}, {128, 192, 0, 96}}));
}

TEST(OwnCaches, BlocksOfALargeOneAreInTheirOrder) {
  if (!processorHas("x86-64-v4"))
    GTEST_SKIP() << "this CPU lacks AVX-512";
  auto blocks = [](const GemmDesc &d) {
    return blocksOf(d, "x86-64-v4", SecondLevel::large);
  };
  EXPECT_EQ(blocks(kPackedRows), (std::vector<Range>{{0, 64, 0, 96},
                                                     {0, 64, 96, 192},
                                                     {64, 128, 0, 96},
                                                     {64, 128, 96, 192}}));
  EXPECT_EQ(blocks(kPlainRows), (std::vector<Range>{{0, 64, 0, 96}}));
  EXPECT_EQ(blocks(kOwnRows), (std::vector<Range>{{0, 64, 0, 96},
                                                  {64, 96, 0, 96},
                                                  {96, 160, 0, 96},
                                                  {160, 192, 0, 96}}));
}

// AVX2 and tiles have one way for all caches.
TEST(OwnCaches, OtherInstructionSetsMakeTheSameBlocks) {
  for (std::string_view isa : {"x86-64-v3", "x86-64-v4-amx"})
    if (processorHas(isa))
      for (GemmDesc d : {kPackedRows, kPlainRows, kOwnRows}) {
        d.ab = isa == "x86-64-v3" ? MTC_F32 : MTC_BF16;
        EXPECT_EQ(blocksOf(d, isa, SecondLevel::usual),
                  blocksOf(d, isa, SecondLevel::large))
            << isa << name(d);
      }
}

TEST(SecondLevel, IsLargeFrom2MiBOn) {
  constexpr int64_t kMiB = 1 << 20;
  for (int64_t bytes : {int64_t(-1), int64_t(0), kMiB / 2, kMiB, 5 * kMiB / 4,
                        2 * kMiB - 1, 4 * kMiB, 16 * kMiB})
    EXPECT_EQ(secondLevelOf(bytes), SecondLevel::usual) << bytes;
  for (int64_t bytes : {2 * kMiB, 3 * kMiB})
    EXPECT_EQ(secondLevelOf(bytes), SecondLevel::large) << bytes;
}

// Linux reads the same leaves; where it knows of no such cache, or CPUID says
// nothing, there is nothing to compare.
TEST(SecondLevel, IsWhatLinuxSays) {
  int64_t bytes = secondLevelBytes();
  EXPECT_EQ(secondLevelHere(), secondLevelOf(bytes));
  for (int index = 0; bytes > 0; ++index) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" +
                         std::to_string(index) + "/";
    int level = 0;
    int64_t size = 0;
    if (!(std::ifstream(folder + "level") >> level) ||
        !(std::ifstream(folder + "size") >> size))
      break;
    if (level == 2) {
      EXPECT_EQ(bytes, size * 1024);
    }
  }
}
