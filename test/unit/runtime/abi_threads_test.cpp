// What fragments call on a rank of several threads, on its own.
#include "mtc/runtime/abi.h"
#include "mtc/runtime/step_field.h"
#include "runtime/kernels/cpu/norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace mtc::runtime {
namespace {

/// A rank of so many threads, with a step block and nothing else.
struct ThreadedRank {
  MtcContext ctx{};
  MtcStepState state{};
  explicit ThreadedRank(int32_t threads) {
    ctx.threads = threads;
    ctx.arena[MTC_ARENA_STEP] = &state;
  }
};

// Sizes below and above what is worth a thread, no multiples of a page.
TEST(AbiThreads, ZeroClearsAllAndNoMore) {
  for (int32_t threads : {0, 1, 2, 3})
    for (size_t bytes :
         {size_t(0), size_t(5), size_t(2 << 20), size_t(3345678)})
      for (auto zero : {mtc_zero, mtc_zero_guarded}) {
        ThreadedRank rank(threads);
        std::vector<char> memory(bytes + 2, 'x');
        zero(&rank.ctx, memory.data() + 1, int64_t(bytes));
        EXPECT_EQ(memory.front(), 'x');
        EXPECT_EQ(memory.back(), 'x');
        EXPECT_EQ(std::count(memory.begin(), memory.end(), '\0'),
                  int64_t(bytes));
      }
}

TEST(AbiThreads, NormIsThatOfOneThread) {
  constexpr int64_t kCount = 300'001;
  std::vector<float> g(kCount);
  std::vector<uint16_t> halves(kCount);
  for (int64_t i = 0; i < kCount; ++i) {
    g[size_t(i)] = float(i % 977) * 0x1p-20f - 1e-5f;
    halves[size_t(i)] = uint16_t(0x3a00 + i % 700);
  }
  auto normOf = [&](int32_t threads) {
    ThreadedRank rank(threads);
    mtc_norm_reset(&rank.ctx);
    mtc_norm_accumulate(&rank.ctx, MTC_F32, g.data(), kCount);
    mtc_norm_accumulate(&rank.ctx, MTC_BF16, halves.data(), kCount);
    mtc_norm_check(&rank.ctx, g.data(), kCount);
    return std::vector<int64_t>(std::begin(rank.state.norm),
                                std::end(rank.state.norm));
  };
  NormSum expected;
  normAccumulate(expected, g.data(), kCount);
  normAccumulateHalf(expected, MTC_BF16, halves.data(), kCount);
  EXPECT_TRUE(expected.finite());
  for (int32_t threads : {0, 1, 2, 3}) {
    std::vector<int64_t> norm = normOf(threads);
    EXPECT_EQ(std::memcmp(norm.data(), expected.limb, sizeof expected.limb), 0)
        << threads;
  }
}

/// Adds one to each element of a range.
void addOne(void *argument, int64_t begin, int64_t end) {
  auto *values = static_cast<float *>(argument);
  for (int64_t i = begin; i < end; ++i)
    values[i] += 1;
}

// Each element is made once, and counted as it is then, where a part has it: at
// the ends of blocks, in several, and where there is none.
TEST(AbiThreads, RangesAreCountedAsTheyAreMade) {
  for (int64_t length : {0, 5, 16384, 300'001})
    for (int32_t threads : {0, 1, 2, 3}) {
      ThreadedRank rank(threads);
      std::vector<float> values(size_t(length) + 1), made;
      for (int64_t i = 0; i <= length; ++i)
        values[size_t(i)] = float(i % 977) * 0x1p-10f;
      for (float x : values)
        made.push_back(x + 1);
      const MtcCounted parts[] = {
          {values.data() + length / 7, length / 3},
          {values.data() + length / 7 + length / 3 + 1, 1},
          {values.data() + length, 0}};
      NormSum expected;
      for (const MtcCounted &part : parts)
        if (length > 5)
          normAccumulate(expected, made.data() + (part.at - values.data()),
                         part.count);
      mtc_norm_reset(&rank.ctx);
      mtc_range_counted(&rank.ctx, addOne, values.data(), length, values.data(),
                        parts, length > 5 ? 3 : 0);
      SCOPED_TRACE(length);
      EXPECT_EQ(
          std::memcmp(rank.state.norm, expected.limb, sizeof expected.limb), 0)
          << threads << " threads";
      EXPECT_EQ(values.back(), made.back() - 1) << "behind the end";
      values.pop_back();
      made.pop_back();
      EXPECT_EQ(values, made);
    }
}

TEST(AbiThreads, NothingIsDoneAfterAnError) {
  ThreadedRank rank(2);
  rank.ctx.status = 1;
  std::vector<char> memory(4 << 20, 'x');
  mtc_zero(&rank.ctx, memory.data(), int64_t(memory.size()));
  EXPECT_EQ(std::count(memory.begin(), memory.end(), 'x'),
            int64_t(memory.size()));
  std::vector<float> values(100'000, 3);
  mtc_range_counted(&rank.ctx, addOne, values.data(), int64_t(values.size()),
                    values.data(), nullptr, 0);
  EXPECT_EQ(std::count(values.begin(), values.end(), 3.0F),
            int64_t(values.size()));
}

} // namespace
} // namespace mtc::runtime
