//===- execute_norm.cpp - kernels of the norm on the PTX executor ---------===//
//
//   execute_norm FOLDER SEED [OPTION OF GTEST...]
//
// runs FOLDER/norm.ptx, blocks and warps in an order that SEED chooses, and
// compares with the host's norm to the bit.
//
//===----------------------------------------------------------------------===//
#include "norm_on_device.h"

#include "test/cuda/common/module_files.h"

#include <cmath>
#include <limits>
#include <random>

using namespace mtc;
using namespace mtc::test;
using runtime::NormSum;

namespace {

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const ptx::Module *module = nullptr;
uint64_t seed = 0;

std::mt19937_64 &random() {
  static std::mt19937_64 made(seed);
  return made;
}
size_t below(size_t count) { return random()() % count; }
uint32_t someBlocks() { return uint32_t(1 + below(4)); }

/// How the magnitudes of a case are spread.
enum class Kind { gaussian, wide, subnormal, huge, sparse, bits, count };

float valueOf(Kind kind) {
  static std::normal_distribution<float> normal;
  float x = normal(random());
  switch (kind) {
  case Kind::wide:
    return std::ldexp(x, int(below(270)) - 145);
  case Kind::subnormal:
    return std::ldexp(x, -128 - int(below(20)));
  case Kind::huge:
    return below(2) ? kLargest : -kLargest;
  case Kind::sparse:
    return below(50) == 0 ? std::ldexp(x, int(below(60)) - 40) : 0;
  case Kind::bits: {
    float any = std::bit_cast<float>(uint32_t(random()()));
    return std::isfinite(any) ? any : 1;
  }
  default:
    return 1e-3f * x;
  }
}

std::vector<float> valuesOf(Kind kind, size_t count) {
  std::vector<float> g(count);
  for (float &x : g)
    x = valueOf(kind);
  return g;
}

/// As a sum is between calls, many of its bits ones, so that carries go far.
NormSum someSum() {
  NormSum sum;
  for (__int128 &limb : sum.limb)
    limb = below(3) == 0 ? uint64_t(random()()) : ~uint64_t(0) >> below(2);
  if (below(2))
    sum.limb[NormSum::kLimbs - 1] = below(1000);
  return sum;
}

NormSum notFinite() {
  NormSum sum;
  sum.limb[NormSum::kLimbs - 1] = NormSum::kNotFinite;
  return sum;
}

/// Of a sum that is not finite the last limb alone says something.
void expectSame(const NormSum &found, const NormSum &expected) {
  if (expected.finite())
    EXPECT_EQ(wordsOf(found), wordsOf(expected));
  else
    EXPECT_FALSE(found.finite());
}

const size_t kCounts[] = {0,   1,    2,    3,    5,    8,   15,
                          16,  17,   31,   100,  511,  512, 513,
                          777, 1025, 2047, 2048, 3001, 9001};

TEST(Norm, OfFloatsIsThatOfTheHost) {
  for (size_t count : kCounts)
    for (int kind = 0; kind < int(Kind::count); ++kind) {
      NormSum host = below(2) ? someSum() : NormSum();
      NormOnDevice device(*module, random()(), host);
      for (int launches = 0; launches < 2; ++launches) {
        std::vector<float> g = valuesOf(Kind(kind), count);
        uint32_t blocks = someBlocks();
        size_t skipped = below(4);
        SCOPED_TRACE(testing::Message()
                     << count << " values of kind " << kind << ", " << blocks
                     << " blocks, " << skipped << " skipped");
        runtime::normAccumulate(host, g.data(), int64_t(count));
        device.accumulate(g, blocks, skipped);
        expectSame(device.sum(), host);
        if (testing::Test::HasFailure())
          return;
      }
    }
}

TEST(Norm, OfHalvesIsThatOfTheHost) {
  for (MtcDtype dtype : {MTC_BF16, MTC_F16})
    for (size_t count : kCounts) {
      std::vector<uint16_t> g(count);
      auto kind = Kind(below(int(Kind::count)));
      for (uint16_t &x : g) {
        x = below(8) ? runtime::roundToHalf(dtype, valueOf(kind))
                     : uint16_t(random()());
        if (!std::isfinite(runtime::widenHalf(dtype, x)))
          x = 1;
      }
      NormSum host = someSum();
      NormOnDevice device(*module, random()(), host);
      runtime::normAccumulateHalf(host, dtype, g.data(), int64_t(count));
      device.accumulate(dtype, g, someBlocks(), below(8));
      ASSERT_EQ(wordsOf(device.sum()), wordsOf(host))
          << count << " of type " << dtype;
    }
}

TEST(Norm, LanesGiveAwayTheirSumsBeforeTheyOverflow) {
  // Full mantissas, all at the top of the window of one of eight warps, which
  // take 512 values in turn.
  std::vector<float> g(2'300'000);
  for (size_t i = 0; i < g.size(); ++i)
    g[i] = i / 512 % 8 == 0 ? kLargest : 0;
  NormSum host;
  runtime::normAccumulate(host, g.data(), int64_t(g.size()));
  NormOnDevice device(*module, seed);
  device.accumulate(g, 1, 0);
  EXPECT_EQ(wordsOf(device.sum()), wordsOf(host));
}

TEST(Norm, CarriesIntoTheLastHalf) {
  NormSum host;
  host.limb[NormSum::kLimbs - 1] = ~uint64_t(0);
  NormOnDevice device(*module, seed, host);
  std::vector<float> g(1000, kLargest);
  runtime::normAccumulate(host, g.data(), 1000);
  ASSERT_GT(host.limb[NormSum::kLimbs - 1] >> 64, 0);
  device.accumulate(g, 3, 0);
  EXPECT_EQ(wordsOf(device.sum()), wordsOf(host));
}

TEST(Norm, WhatIsNotFiniteStaysSo) {
  for (float bad : {kInfinity, -kInfinity, std::nanf("")})
    for (size_t count : {1, 7, 600, 2500}) {
      std::vector<float> g(count, kLargest);
      g[below(count)] = bad;
      NormOnDevice device(*module, random()(), someSum());
      device.accumulate(g, someBlocks(), below(4));
      EXPECT_FALSE(device.sum().finite()) << bad << " among " << count;
      // Carries come to the last limb, but do not change it.
      device.accumulate(std::vector<float>(900, kLargest), 3, 0);
      EXPECT_FALSE(device.sum().finite());
      device.reset();
      EXPECT_EQ(wordsOf(device.sum()), wordsOf(NormSum()));
    }
  for (MtcDtype dtype : {MTC_BF16, MTC_F16}) {
    std::vector<uint16_t> g(500, 1);
    g[below(500)] = runtime::roundToHalf(dtype, kInfinity);
    NormOnDevice device(*module, seed);
    device.accumulate(dtype, g, 2, 3);
    EXPECT_FALSE(device.sum().finite());
  }
}

TEST(Norm, FiniteValuesBesideOthersDoNotDependOnTheGrid) {
  std::vector<float> g = valuesOf(Kind::wide, 3000);
  g[1234] = kInfinity;
  NormOnDevice one(*module, 1), other(*module, 2);
  one.accumulate(g, 1, 0);
  other.accumulate(g, 4, 3);
  EXPECT_EQ(wordsOf(one.sum()), wordsOf(other.sum()));
}

TEST(Norm, CheckAddsNothing) {
  for (size_t count : kCounts) {
    NormSum sum = someSum();
    NormOnDevice device(*module, random()(), sum);
    std::vector<float> x = valuesOf(Kind::bits, count);
    device.check(x, someBlocks(), below(4));
    EXPECT_EQ(wordsOf(device.sum()), wordsOf(sum));
    if (count == 0)
      continue;
    x[below(count)] = below(2) ? std::nanf("") : kInfinity;
    device.check(x, someBlocks(), below(4));
    EXPECT_FALSE(device.sum().finite()) << count;
  }
}

TEST(Norm, CheckLooksAtEachValue) {
  std::vector<float> x(9001, -kLargest);
  for (size_t at = 0; at < x.size(); at += 1 + below(40)) {
    x[at] = -kInfinity;
    NormOnDevice device(*module, random()());
    device.check(x, uint32_t(1 + below(2)), below(4));
    ASSERT_FALSE(device.sum().finite()) << at;
    x[at] = -kLargest;
  }
}

/// Adds, as ranks do, what is given so many times.
std::vector<uint64_t> times(std::vector<uint64_t> limbs, uint64_t ranks) {
  for (uint64_t &limb : limbs) {
    EXPECT_LE(limb, (uint64_t(1) << 63) / ranks);
    limb *= ranks;
  }
  return limbs;
}

/// A sum that no kernel leaves behind.
NormSum garbage() {
  NormSum sum;
  for (__int128 &limb : sum.limb)
    limb = -2;
  return sum;
}

TEST(Norm, RanksAddLimbs) {
  for (uint64_t ranks :
       {uint64_t(1), uint64_t(2), uint64_t(1000), uint64_t(1) << 31}) {
    NormSum host = someSum();
    NormOnDevice device(*module, random()(), host);
    NormOnDevice other(*module, random()(), garbage());
    other.fromLimbs(times(device.toLimbs(), ranks));
    for (__int128 &limb : host.limb)
      limb *= int64_t(ranks);
    runtime::normAccumulate(host, nullptr, 0); // carries
    EXPECT_EQ(wordsOf(other.sum()), wordsOf(host)) << ranks;
  }
  NormOnDevice fine(*module, 1, someSum()), bad(*module, 2, notFinite());
  std::vector<uint64_t> all = times(fine.toLimbs(), 1000);
  std::vector<uint64_t> one = times(bad.toLimbs(), 2);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] += one[i];
  fine.fromLimbs(all);
  EXPECT_FALSE(fine.sum().finite());
  bad.fromLimbs(times(bad.toLimbs(), 1));
  EXPECT_FALSE(bad.sum().finite());
}

MtcStepState someState(NormSum sum) {
  MtcStepState state = NormOnDevice::stateOf(sum);
  state.block.seed = random()();
  const float thresholds[] = {0, -1, 1, 1e-30f, 1e38f, 0.5f};
  state.block.clip_threshold = thresholds[below(6)];
  const double scales[] = {1, 0x1p-16, 0x1p-126, 3.5};
  state.block.inv_loss_scale = scales[below(4)];
  return state;
}

NormSum sumOfBits(int bits) {
  NormSum sum;
  for (int at = 0; at < bits; at += 64)
    sum.limb[at / 64] = uint64_t(random()());
  // Half the time with a long run of zeros or ones: near ties.
  for (int at = 0; at + 64 < bits && below(2); at += 64)
    sum.limb[at / 64] = below(2) ? 0 : ~uint64_t(0);
  if (bits % 64 != 0)
    sum.limb[bits / 64] &= (__int128{1} << bits % 64) - 1;
  return sum;
}

/// Half way between two doubles, or a unit above that.
NormSum nearTie() {
  NormSum sum;
  auto leading = (uint64_t(random()()) >> 11 | uint64_t(1) << 52) << 1 | 1;
  auto at = int(below(500));
  __int128 wide = __int128(leading) << at % 64;
  sum.limb[at / 64] = uint64_t(wide);
  sum.limb[at / 64 + 1] = wide >> 64;
  sum.limb[0] |= below(2);
  return sum;
}

TEST(Norm, FinishHasTheBitsOfTheHost) {
  std::vector<NormSum> sums{NormSum(), notFinite()};
  for (int i = 0; i < 120; ++i)
    sums.push_back(sumOfBits(1 + int(below(570))));
  for (int i = 0; i < 120; ++i)
    sums.push_back(nearTie());
  for (int i = 0; i < 3; ++i) { // sums over ranks, with their carries to come
    sums.push_back(someSum());
    for (__int128 &limb : sums.back().limb)
      limb *= 1 + int64_t(below(1000));
  }
  for (const NormSum &sum : sums) {
    MtcStepState state = someState(sum);
    NormOnDevice device(*module, seed, state);
    device.finish();
    MtcStepBlock &b = state.block;
    b.grad_norm = runtime::normValue(sum) * b.inv_loss_scale;
    b.clip_coeff = runtime::clipCoefficient(b.grad_norm, b.clip_threshold,
                                            b.inv_loss_scale);
    MtcStepState found = device.read();
    ASSERT_EQ(std::memcmp(&found, &state, sizeof state), 0)
        << "expected " << b.grad_norm << " and " << b.clip_coeff << ", found "
        << found.block.grad_norm << " and " << found.block.clip_coeff;
  }
}

TEST(Zero, WritesItsRangeAndNothingElse) {
  for (int64_t bytes : {0, 1, 2, 15, 16, 17, 31, 33, 255, 4096, 9999, 70001})
    for (size_t skipped : {0, 1, 7, 15}) {
      ExecutorDevice device(*module, random()());
      constexpr size_t kBehind = 64;
      ptx::Address at =
          device.space(size_t(bytes) + kBehind, "memory", skipped);
      device.run("mtc_cuda_zero", {someBlocks(), 1, 1}, cuda::kNormThreads, at,
                 bytes);
      EXPECT_TRUE(device.isWritten(at, size_t(bytes)));
      EXPECT_TRUE(device.isWritten(at + uint64_t(bytes), kBehind, false));
      EXPECT_TRUE(device.isWritten(at - skipped, skipped, false));
      for (uint8_t byte : device.read<uint8_t>(at, size_t(bytes)))
        ASSERT_EQ(byte, 0);
    }
}

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3) {
    std::cerr << "usage: execute_norm FOLDER SEED\n";
    return 2;
  }
  // Every sum of floats says how it is rounded.
  ptx::Rules rules{true, true, true};
  ModuleFiles modules(argv[1], rules);
  module = modules.find("norm.ptx");
  seed = std::stoull(argv[2]);
  return module ? RUN_ALL_TESTS() : 1;
}
