// Products that read an op(b) that was packed before have the bits of those
// that pack it themselves, whoever packed it; packing writes its bytes, all of
// them, and reads nothing behind op(b).
#include "test/unit/kernels/own_products.h"

#include <algorithm>
#include <array>
#include <span>

using namespace mtc::runtime;
using namespace mtc::test;

namespace {

GemmDesc withKernel(GemmDesc d, GemmKernel kernel) {
  d.kernel = kernel;
  return d;
}

/// Few sizes are large, a third of k has several blocks; half of n are whole
/// panels of each instruction set.
GemmDesc randomProduct(std::mt19937 &rng) {
  auto below = [&](int64_t end) { return int64_t(rng() % uint64_t(end)); };
  auto draw = [&](int64_t most) {
    return 1 + below(std::min(int64_t(2) << below(12), most));
  };
  GemmDesc d;
  d.n = below(2) ? 48 * draw(14) : draw(700);
  d.k = below(3) ? draw(1024) : 1025 + below(1476);
  d.m = draw(std::clamp<int64_t>(4000000 / (d.n * d.k), 9, 300));
  d.ta = below(2);
  d.tb = below(2);
  d.beta = int(below(2));
  Types types = kTypes[below(std::size(kTypes))];
  d.ab = types.ab;
  d.c = types.c;
  return d;
}

/// By as many threads as are named, packed by others.
void expectPackedIsOwn(const GemmDesc &d, const Operands &x,
                       std::string_view isa, std::span<const int> threads,
                       int packers) {
  SCOPED_TRACE(testing::Message()
               << isa << ", packed by " << packers << ": " << name(d));
  const std::vector<std::byte> expected =
      product(withKernel(d, GemmKernel::own), x, isa, 1);
  const GemmDesc of = withKernel(d, GemmKernel::ownPacked);
  for (int each : threads)
    ASSERT_EQ(product(of, x, isa, each, packers), expected)
        << each << " threads";
  expectContinued(of, x, isa, threads.back(), expected, packers);
}

/// What is drawn, so that nothing is left out by chance.
struct Drawn {
  int blocksOfK = 0, waiting = 0, odd = 0, wholePanels = 0, manyRows = 0;

  void add(const GemmDesc &d) {
    bool hasBlocks = d.k > (d.ab == MTC_BF16 ? 2048 : 1024);
    blocksOfK += hasBlocks;
    waiting += hasBlocks && isHalf(d.c);
    odd += d.ab == MTC_BF16 && d.k % 2 == 1 && !d.ta;
    wholePanels += d.n % 48 == 0;
    manyRows += d.m > 64;
  }
};

} // namespace

TEST(PackedGemm, RandomProductsHaveTheBitsOfTheirOwnPacking) {
  std::mt19937 rng(20261128);
  Drawn drawn;
  for (int i = 0; i < 150 && !HasFatalFailure(); ++i) {
    GemmDesc d = randomProduct(rng);
    Operands x = operandsOf(d, rng);
    drawn.add(d);
    // Each number of threads, of packing another one or the same.
    const int threads[] = {1 + i % 4, 1 + (i + 1 + i / 4 % 3) % 4};
    for (std::string_view isa : isasHere())
      expectPackedIsOwn(d, x, isa, threads, 1 + i / 4 % 4);
  }
  EXPECT_GT(drawn.blocksOfK, 30);
  EXPECT_GT(drawn.waiting, 10);
  EXPECT_GT(drawn.odd, 10);
  EXPECT_GT(drawn.wholePanels, 50);
  EXPECT_GT(drawn.manyRows, 20);
}

// Products whose tail no thread's share has, with it in several blocks of
// columns; more columns than wait in one stripe; fewer panels than threads.
TEST(PackedGemm, TailsAndStripesHaveTheBitsOfTheirOwnPacking) {
  std::mt19937 rng(11);
  for (auto [m, n, k] : {std::array<int64_t, 3>{257, 800, 33},
                         {300, 768, 40},
                         {256, 2900, 17},
                         {130, 1536, 1000},
                         {130, 768, 1100},
                         {9, 3300, 1030},
                         {70, 47, 2100}})
    for (Types t : kTypes)
      for (bool tb : {false, true}) {
        GemmDesc d{m, n, k, false, tb, tb, t.ab, t.c};
        Operands x = operandsOf(d, rng);
        const int threads[] = {1, 2, 3, 4};
        for (std::string_view isa : isasOfBits(t.ab))
          expectPackedIsOwn(d, x, isa, threads, 3);
        if (HasFatalFailure())
          return;
      }
}

// Everything that gemmPackedBytes says is written, whoever writes it: no byte
// of before is left, and none lies behind.
TEST(PackedGemm, PackingWritesAllOfItsBytes) {
  std::mt19937 rng(12);
  for (auto [n, k] : {std::array<int64_t, 2>{1, 1},
                      {24, 1},
                      {25, 3},
                      {48, 17},
                      {72, 1025},
                      {97, 2049},
                      {700, 31}})
    for (MtcDtype type : {MTC_F32, MTC_BF16, MTC_F16})
      for (bool tb : {false, true})
        for (std::string_view isa : isasHere()) {
          GemmDesc d{1, n, k, false, tb, 0, type, type, GemmKernel::ownPacked};
          Operands x = operandsOf(d, rng);
          const std::vector<std::byte> one = packed(d, x, isa, 1);
          int64_t bytes = 0;
          ASSERT_TRUE(gemmPackedBytes({n, k, tb, type}, isa, &bytes).ok());
          EXPECT_EQ(int64_t(one.size()), bytes) << isa << ": " << name(d);
          for (int threads : {1, 2, 3, 4})
            EXPECT_EQ(packed(d, x, isa, threads, std::byte{0x2a}), one)
                << isa << ", " << threads << " threads: " << name(d);
        }
}

// Of op(b) and of nothing else: not of how it is stored.
TEST(PackedGemm, BothWaysToStoreAreThePanelsOfOne) {
  std::mt19937 rng(13);
  for (auto [n, k] : {std::array<int64_t, 2>{700, 31}, {97, 2049}, {48, 1024}})
    for (MtcDtype type : {MTC_F32, MTC_BF16, MTC_F16})
      for (std::string_view isa : isasHere()) {
        GemmDesc d{1, n, k, false, false, 0, type, type, GemmKernel::ownPacked};
        Operands x = operandsOf(d, rng), turned = withTurnedB(d, x);
        GemmDesc other = d;
        other.tb = true;
        EXPECT_EQ(packed(other, turned, isa, 2), packed(d, x, isa, 2))
            << isa << ": " << name(d);
      }
}

// The planner asks for another processor than its own: a pure function, at
// most a panel wider than op(b) and aligned for the next one.
TEST(PackedGemm, BytesArePlannedForAnyProcessor) {
  for (std::string_view isa : kIsas)
    for (MtcDtype type : {MTC_F32, MTC_BF16, MTC_F16})
      for (int64_t n : {1, 24, 47, 768, 50257})
        for (int64_t k : {1, 3, 768, 5001}) {
          int64_t bytes = 0, turned = 0;
          ASSERT_TRUE(gemmPackedBytes({n, k, false, type}, isa, &bytes).ok());
          ASSERT_TRUE(gemmPackedBytes({n, k, true, type}, isa, &turned).ok());
          EXPECT_EQ(bytes, turned);
          EXPECT_EQ(bytes % 64, 0) << isa << ", n=" << n << " k=" << k;
          bool arePairs =
              isaIncludes(isa, "x86-64-v4-bf16") && type == MTC_BF16;
          int64_t elements = arePairs ? 2 : 1,
                  units = (k + elements - 1) / elements;
          EXPECT_GE(bytes, 4 * n * units);
          if (arePairs && isa == "x86-64-v4-amx") // whole tiles
            units = (units + 15) / 16 * 16;
          EXPECT_LT(bytes, 4 * (n + 48) * units + 64);
        }
}

// What is packed before needs no room: none at all where op(a) is read as it
// is and sums lie in c.
TEST(PackedGemm, ScratchHasNoPanelsOfB) {
  for (std::string_view isa : kIsas)
    for (Types t : kTypes)
      for (int threads : {1, 3})
        for (bool ta : {false, true}) {
          GemmDesc d{100, 1000, 3000, ta, false, 0, t.ab, t.c};
          int64_t packed = OwnGemm(withKernel(d, GemmKernel::ownPacked),
                                   threads, isa)
                               .scratchBytes(),
                  own = OwnGemm(d, threads, isa).scratchBytes();
          // Of each thread, at the least.
          EXPECT_LE(packed, own - threads * 4 * 24 * 1000)
              << isa << ", " << threads << " threads: " << name(d);
          if (t.ab == MTC_F32 && !ta) {
            EXPECT_EQ(packed, 0) << isa << ", " << threads << " threads";
          }
        }
}

TEST(PackedGemm, Errors) {
  int64_t bytes = 0;
  auto message = [&](const PackedDesc &desc, std::string_view isa) {
    Status status = gemmPackedBytes(desc, isa, &bytes);
    EXPECT_EQ(status.code(), StatusCode::usage);
    return status.message();
  };
  EXPECT_EQ(message({0, 3, false, MTC_F32}, kBest),
            "expected an op(b) of f32, bf16 or f16 with n, k >= 1, found n=0 "
            "k=3 of f32");
  EXPECT_EQ(message({3, -1, false, MTC_BF16}, kBest),
            "expected an op(b) of f32, bf16 or f16 with n, k >= 1, found n=3 "
            "k=-1 of bf16");
  EXPECT_EQ(message({3, 1, true, MTC_I32}, kBest),
            "expected an op(b) of f32, bf16 or f16 with n, k >= 1, found n=3 "
            "k=1 of dtype 2");
  EXPECT_EQ(message({3, 1}, "sse2"), "expected x86-64-v4-amx, x86-64-v4-bf16, "
                                     "x86-64-v4 or x86-64-v3, found sse2");
  EXPECT_EQ(bytes, 0);
  // Packing has these errors, too, and writes nothing then; here also because
  // nobody has chosen an instruction set.
  alignas(64) float to[48] = {7};
  const float from[1] = {1};
  for (const PackedDesc &desc :
       {PackedDesc{0, 1}, {1, 0}, {1, 1, false, MTC_I128}, {1, 1}})
    EXPECT_EQ(gemmPack(desc, 1, from, to).code(), StatusCode::usage);
  EXPECT_EQ(gemmPack({1, 1}, 0, from, to).message(),
            "expected at least 1 thread per rank, found 0");
  EXPECT_NE(gemmPack({1, 1}, 1, from, to).message().find("instruction set"),
            std::string::npos);
  EXPECT_EQ(to[0], 7);
}
