//===- sums_test.cpp - the order of additions -----------------------------===//
//
// As test/golden/cuda/nccl.json has it of rings: each element is a chain in
// rank order from some rank, rounded to the type behind every addition, and all
// ranks have the same bits.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/nccl/harness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace mtc::standin::nccl::test;

namespace {

constexpr size_t kCount = 6000;

float roundToBf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// Values of very different sizes.
float element(int rank, size_t k, bool half) {
  uint64_t mixed = (uint64_t(rank) << 32 | k) * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9;
  float part = float(int64_t(mixed >> 40) - (1 << 23)) / float(1 << 23);
  float value = std::ldexp(part, int(mixed >> 20 & 7));
  return half ? roundToBf16(value) : value;
}

/// From how many starts the chain gives `found`, as bits by start.
unsigned chainsOf(int ranks, size_t k, float found, bool half) {
  unsigned starts = 0;
  for (int start = 0; start < ranks; ++start) {
    float sum = element(start, k, half);
    for (int step = 1; step < ranks; ++step) {
      sum += element((start + step) % ranks, k, half);
      sum = half ? roundToBf16(sum) : sum;
    }
    starts |= unsigned(sum == found) << start;
  }
  return starts;
}

std::vector<float> allReduced(Rank &self, ncclComm_t comm, bool half) {
  std::vector<float> values(kCount);
  std::vector<uint16_t> halves(kCount);
  for (size_t k = 0; k < kCount; ++k) {
    values[k] = element(self.rank, k, half);
    std::memcpy(&halves[k], reinterpret_cast<char *>(&values[k]) + 2, 2);
  }
  CUdeviceptr x = half ? self.bytes(halves.data(), 2 * kCount)
                       : self.bytes(values.data(), 4 * kCount);
  auto *at = reinterpret_cast<void *>(x);
  MTC_OK(self.nccl.ncclAllReduce(at, at, kCount,
                                 half ? ncclBfloat16 : ncclFloat32, ncclSum,
                                 comm, reinterpret_cast<cudaStream_t>(self.s)));
  if (!half)
    return self.get(x, kCount);
  self.get(x, halves.data(), 2 * kCount);
  for (size_t k = 0; k < kCount; ++k) {
    uint32_t bits = uint32_t(halves[k]) << 16;
    std::memcpy(&values[k], &bits, 4);
  }
  return values;
}

/// Notes a digest, which has to be the same of all ranks.
MTC_PROGRAM(chains) {
  ncclComm_t comm = self.communicator();
  uint64_t digest = 0;
  for (bool half : {false, true}) {
    unsigned never = ~0u;
    for (size_t k = 0; float found : allReduced(self, comm, half)) {
      unsigned starts = chainsOf(self.size, k++, found, half);
      MTC_TRUE(starts != 0);
      never &= starts;
      uint32_t bits;
      std::memcpy(&bits, &found, 4);
      digest = (digest ^ bits) * 0x100000001b3;
    }
    // No one start explains all of them, but for two ranks.
    MTC_TRUE(self.size <= 2 || never == 0);
  }
  note(std::to_string(digest));
}

MTC_PROGRAM(specials) {
  ncclComm_t comm = self.communicator();
  float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  float mine[] = {self.rank ? -inf : inf, self.rank ? 1 : nan,
                  self.rank ? 5.0f : 2.0f, 0x1p-149f};
  CUdeviceptr x = self.bytes(mine, sizeof mine),
              y = self.bytes(mine, sizeof mine);
  auto *max = reinterpret_cast<void *>(y);
  auto stream = reinterpret_cast<cudaStream_t>(self.s);
  MTC_OK(self.sum(x, 4, comm, self.s));
  MTC_OK(
      self.nccl.ncclAllReduce(max, max, 4, ncclFloat32, ncclMax, comm, stream));
  std::vector<float> sums = self.get(x, 4), most = self.get(y, 4);
  uint32_t bits;
  std::memcpy(&bits, &sums[0], 4);
  MTC_TRUE(bits == 0x7fffffff && std::isnan(sums[1]));
  MTC_TRUE(sums[2] == 7 && sums[3] == 0x1p-148f);
  // As on a GPU, a NaN is lost.
  MTC_TRUE(most[0] == inf && most[1] == 1 && most[2] == 5);
  // Floats are scaled before they are added, integers after.
  int integers[] = {self.rank ? -4 : 1};
  CUdeviceptr i = self.bytes(integers, sizeof integers);
  auto *mean = reinterpret_cast<void *>(i), *half = reinterpret_cast<void *>(x);
  MTC_OK(
      self.nccl.ncclAllReduce(mean, mean, 1, ncclInt32, ncclAvg, comm, stream));
  MTC_OK(self.nccl.ncclAllReduce(half, half, 4, ncclFloat32, ncclAvg, comm,
                                 stream));
  self.get(i, integers, sizeof integers);
  MTC_TRUE(integers[0] == -1 && self.get(x, 4)[2] == 7);
}

TEST(Sums, AreChainsFromARankOfTheChunk) {
  for (int ranks : {2, 3, 4}) {
    Outcome outcome = run("chains", {.ranks = ranks});
    ASSERT_TRUE(outcome.good()) << outcome.text();
    for (const RankOutcome &each : outcome.ranks)
      EXPECT_EQ(each.note, outcome.ranks[0].note);
  }
}

TEST(Sums, OtherSeedsHaveOtherOrders) {
  std::string first = run("chains", {.ranks = 4, .seed = 1}).ranks[0].note;
  bool differ = false;
  for (uint64_t seed = 2; seed <= 4; ++seed)
    differ |= run("chains", {.ranks = 4, .seed = seed}).ranks[0].note != first;
  EXPECT_TRUE(differ);
}

TEST(Sums, SpecialValuesAreAGpus) {
  Outcome outcome = run("specials");
  EXPECT_TRUE(outcome.good()) << outcome.text();
}

} // namespace
