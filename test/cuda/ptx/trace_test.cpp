//===- trace_test.cpp - traces, and arithmetic before it is rounded -------===//
#include "test/cuda/ptx/harness.h"
#include "test/cuda/ptx/trace.h"

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <unistd.h>

using namespace mtc::ptx;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::pair<double, double> fused(float a, float b, float c) {
  return exactValue(Arithmetic::fused, a, b, c);
}

/// The trace of a kernel whose second warp adds `step` once more than the
/// first.
void record(Trace &trace, int step) {
  Trial trial;
  trial.block = {64, 1, 1};
  trial.options.observer = &trace;
  wordsOf("mov.u32 %r1, %t;\n"
          "setp.lt.u32 %p1, %t, 32;\n"
          "@%p1 bra END;\n"
          "add.u32 %r1, %r1, " +
              std::to_string(step) + ";\nEND: st.global.b32 [%mine], %r1;",
          trial);
}

std::string pathOf(const char *name) {
  return (std::filesystem::temp_directory_path() /
          (std::string(name) + std::to_string(getpid())))
      .string();
}

} // namespace

TEST(Exact, LinesOfArithmetic) {
  EXPECT_EQ(arithmeticOf("\tadd.rn.f32 \t%r1, %r2, %r3;"), Arithmetic::sum);
  EXPECT_EQ(arithmeticOf("@!%p1 sub.rn.f32 %r1, %r2, %r3;"),
            Arithmetic::difference);
  EXPECT_EQ(arithmeticOf("\tfma.rn.f32 \t%r1, %r2, %r3, %r4;"),
            Arithmetic::fused);
  for (const char *other :
       {"", "\t", "@%p1", "$L__BB0_1:", "\tadd.s32 \t%r1, %r2, %r3;",
        "\tadd.rn.f32x2 \t%rd1, %rd2, %rd3;", "\tdiv.rn.f32 \t%r1, %r2, %r3;",
        "\tmul.rn.f64 \t%rd1, %rd2, %rd3;"})
    EXPECT_EQ(arithmeticOf(other), Arithmetic::none) << other;
}

TEST(Exact, ValuesAreEqualOnlyBeforeRounding) {
  EXPECT_EQ(fused(-3, -3, 1), fused(3, 3, 1));
  EXPECT_EQ(exactValue(Arithmetic::difference, 1, 0x1p-60f, 0),
            exactValue(Arithmetic::sum, -0x1p-60f, 1, 0));
  // As f32, and as double, both sums are one.
  EXPECT_NE(exactValue(Arithmetic::sum, 1, 0x1p-90f, 0),
            exactValue(Arithmetic::sum, 1, 0x1p-91f, 0));
  EXPECT_NE(fused(1 + 0x1p-23f, 1 + 0x1p-23f, 0x1p60f), fused(1, 1, 0x1p60f));
  EXPECT_NE(exactValue(Arithmetic::product, 0x1p-140f, 0x1p-140f, 0),
            exactValue(Arithmetic::product, 0x1p-140f, 0x1p-139f, 0));
  // Too large for an f32, but not the same.
  EXPECT_NE(exactValue(Arithmetic::product, 0x1p100f, 0x1p100f, 0),
            exactValue(Arithmetic::product, 0x1p100f, 0x1p101f, 0));
}

TEST(Exact, ZerosHaveNoSignAndInfinitiesNoRest) {
  auto same = [](std::pair<double, double> x, std::pair<double, double> y) {
    return std::bit_cast<uint64_t>(x.first) ==
               std::bit_cast<uint64_t>(y.first) &&
           std::bit_cast<uint64_t>(x.second) ==
               std::bit_cast<uint64_t>(y.second);
  };
  EXPECT_TRUE(same(fused(0, -1, -0.0f), fused(0, 1, 0)));
  EXPECT_TRUE(same(fused(kInfinity, 1, 1), fused(kInfinity, 2, 5)));
  EXPECT_FALSE(same(fused(kInfinity, 1, 1), fused(kInfinity, -1, 1)));
  EXPECT_TRUE(same(fused(kInfinity, 0, 1), fused(NAN, 1, 2)));
}

TEST(Traces, ComeBackFromTheirFile) {
  std::string path = pathOf("mtc_trace");
  Trace one(1), other(1), read(1);
  record(one, 1);
  record(other, 2);
  ASSERT_TRUE(one.save(path));
  ASSERT_TRUE(read.load(path));
  EXPECT_EQ(read.steps().size(), 2u);
  Difference none = compare(one, read);
  EXPECT_FALSE(none.otherWay || none.isSeen());
  // Of the line that differs nobody was told to look: its result is seen.
  EXPECT_TRUE(compare(one, other).isSeen());
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);
  Trace broken(1);
  EXPECT_FALSE(broken.load(path));
  std::filesystem::remove(path);
  EXPECT_FALSE(broken.load(path));
}
