//===- elementary_test.cpp - accuracy and special values, bf16 to the bit -===//
#include "harness.h"

#include "test/unit/half.h"
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>
#include <limits>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

constexpr const char *kFunctions[] = {"exp", "log",   "tanh", "erf",     "sin",
                                      "cos", "rsqrt", "sqrt", "logistic"};
constexpr float kInf = std::numeric_limits<float>::infinity();

/// One kernel per function, @exp and so on, over a dynamic range; and @narrow
/// and @widen between f32 and bf16, and @narrow16 and @widen16 of f16.
class Elementary : public testing::Test {
protected:
  void SetUp() override {
    auto isa = codegen::hostIsa();
    if (!isa) {
      llvm::consumeError(isa.takeError());
      GTEST_SKIP() << "this machine has no supported instruction set";
    }
    std::string text;
    for (std::string f : kFunctions)
      text += kernel(f, "f32", "f32",
                     (f == "logistic" ? "rt." : "math.") + f + " %x : f32");
    text += kernel("narrow", "f32", "bf16", "arith.truncf %x : f32 to bf16");
    text += kernel("widen", "bf16", "f32", "arith.extf %x : bf16 to f32");
    text += kernel("narrow16", "f32", "f16", "arith.truncf %x : f32 to f16");
    text += kernel("widen16", "f16", "f32", "arith.extf %x : f16 to f32");
    text += kernel("again", "bf16", "f32", "arith.extf %b : bf16 to f32",
                   "  %w = arith.extf %x : bf16 to f32\n"
                   "  %b = arith.truncf %w : f32 to bf16\n");
    text += kernel("largest", "f32", "f32", "rt.row_reduce max %x : f32");
    context = makeContext();
    auto module = parse(*context, text);
    ASSERT_TRUE(module);
    library = std::make_unique<Library>(*module, *isa);
    ASSERT_TRUE(library->loaded());
    plain =
        std::make_unique<Library>(*module, *codegen::isaByName("x86-64-v3"));
    ASSERT_TRUE(plain->loaded());
    flushes = isa->nativeBf16;
  }

  static std::string kernel(const std::string &name, const std::string &in,
                            const std::string &out, const std::string &op,
                            const std::string &before = "") {
    auto operand = [](const std::string &type) {
      return "#rt.operand<mode = full, element = " + type + ", extent = 0>";
    };
    return "rt.kernel @" + name + " rows 1 cols -1 args 0 [" + operand(in) +
           ", " + operand(out) + "] {\n  %x = rt.load 0 : " + in + "\n" +
           before + "  %y = " + op + "\n  rt.store 1, %y : " + out + "\n}\n";
  }

  template <typename Out, typename In>
  std::vector<Out> apply(const std::string &name, std::vector<In> in) {
    return apply<Out>(*library, name, std::move(in));
  }
  template <typename Out, typename In>
  std::vector<Out> apply(Library &from, const std::string &name,
                         std::vector<In> in) {
    std::vector<Out> out(in.size());
    call(from.find(name), {in.data(), out.data()}, {int64_t(in.size())});
    return out;
  }

  /// Each bf16 and what lies a quarter, a half and three quarters above it.
  /// `flushes`: the instruction takes denormals for zero.
  void expectNearest(Library &from, bool flushes) {
    for (uint32_t low :
         {0x0000u, 0x4000u, 0x7fffu, 0x8000u, 0x8001u, 0xc000u}) {
      std::vector<uint32_t> in(65536);
      for (uint32_t i = 0; i < 65536; ++i)
        in[i] = i << 16 | low;
      auto narrow = apply<uint16_t>(from, "narrow", in);
      for (uint32_t i = 0; i < 65536; ++i) {
        bool nan = (in[i] & 0x7fffffff) > 0x7f800000;
        bool denormal = (in[i] & 0x7fffffff) < 0x00800000;
        uint32_t nearest = (in[i] + 0x7fff + (in[i] >> 16 & 1)) >> 16;
        if (flushes && denormal)
          nearest = in[i] >> 16 & 0x8000;
        ASSERT_EQ(narrow[i], nan ? (in[i] >> 16 | 0x40) : nearest)
            << std::hex << in[i];
      }
    }
  }

  /// Every `stride`-th float from `low` to `high` (both of one sign).
  static std::vector<float> sweep(float low, float high, uint32_t stride) {
    uint32_t a, b;
    std::memcpy(&a, &low, 4), std::memcpy(&b, &high, 4);
    std::vector<float> v;
    for (uint64_t bits = std::min(a, b); bits <= std::max(a, b);
         bits += stride) {
      uint32_t word = uint32_t(bits);
      v.push_back(0);
      std::memcpy(&v.back(), &word, 4);
    }
    return v;
  }

  /// Largest error in units of the last place of the exact result.
  double worst(const std::string &name, double (*exact)(double),
               const std::vector<float> &xs) {
    auto ys = apply<float>(name, xs);
    double most = 0;
    for (size_t i = 0; i < xs.size(); ++i) {
      double e = exact(xs[i]);
      double ulp = std::ldexp(1.0, std::max(std::ilogb(e), -126) - 23);
      most = std::max(most, std::fabs(ys[i] - e) / ulp);
    }
    return most;
  }

  std::unique_ptr<MLIRContext> context;
  std::unique_ptr<Library> library; ///< for this machine
  std::unique_ptr<Library> plain;   ///< without an instruction for bf16
  bool flushes = false;             ///< `library` has one
};

} // namespace

// 4 units in the last place is what the evaluator's error bounds assume.
TEST_F(Elementary, ErrorsStayBelowFourUnits) {
  EXPECT_LE(worst("exp", std::exp, sweep(1e-30f, 88.7f, 997)), 4);
  EXPECT_LE(worst("exp", std::exp, sweep(-1e-30f, -87.3f, 997)), 4);
  EXPECT_LE(worst("log", std::log, sweep(1e-45f, 3.4e38f, 1999)), 4);
  EXPECT_LE(worst("log", std::log, sweep(0.7f, 1.5f, 13)), 4);
  EXPECT_LE(worst("tanh", std::tanh, sweep(1e-37f, 30.0f, 997)), 4);
  EXPECT_LE(worst("tanh", std::tanh, sweep(-0.01f, -12.0f, 97)), 4);
  auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_LE(worst("logistic", logistic, sweep(1e-37f, 100.0f, 997)), 4);
  EXPECT_LE(worst("logistic", logistic, sweep(-1e-6f, -87.3f, 97)), 4);
  EXPECT_LE(worst("erf", std::erf, sweep(1e-37f, 30.0f, 997)), 4);
  EXPECT_LE(worst("erf", std::erf, sweep(-0.01f, -5.0f, 97)), 4);
  auto rsqrt = [](double x) { return 1 / std::sqrt(x); };
  EXPECT_LE(worst("rsqrt", rsqrt, sweep(1.2e-38f, 3e38f, 1999)),
            1.51); // two roundings
  EXPECT_LE(worst("sqrt", std::sqrt, sweep(1.2e-38f, 3e38f, 1999)), 0.5); // one
}

// sin and cos near their zeros have an absolute error, 2^-23.
TEST_F(Elementary, SinAndCosStayBelowTheirAbsoluteError) {
  for (auto [name, exact] :
       {std::pair<const char *, double (*)(double)>{"sin", std::sin},
        {"cos", std::cos}}) {
    auto xs = sweep(1e-6f, 32768.0f, 311);
    auto ys = apply<float>(name, xs);
    for (size_t i = 0; i < xs.size(); ++i)
      ASSERT_NEAR(ys[i], exact(xs[i]), 0x1p-23) << name << " of " << xs[i];
  }
}

TEST_F(Elementary, SpecialValues) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  auto all = [](std::vector<float> found, std::vector<float> expected) {
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(found[i] == expected[i] ||
                  (found[i] != found[i] && expected[i] != expected[i]))
          << "value " << i << ": expected " << expected[i] << ", found "
          << found[i];
  };
  all(apply<float, float>("exp", {-kInf, -1e30f, -200, -104, -88, 0, -0.f, 89,
                                  1e30f, kInf, nan}),
      {0, 0, 0, 0, 0, 1, 1, kInf, kInf, kInf, nan});
  all(apply<float, float>("log", {0, -0.f, 1, kInf, -1, -kInf, nan}),
      {-kInf, -kInf, 0, kInf, nan, nan, nan});
  all(apply<float, float>("tanh", {-kInf, -20, -0.f, 0, 20, 1e30f, kInf, nan}),
      {-1, -1, 0, 0, 1, 1, 1, nan});
  all(apply<float, float>("logistic",
                          {-kInf, -1e30f, -88, -0.f, 0, 88, 1e30f, kInf, nan}),
      {0, 0, 0, 0.5, 0.5, 1, 1, 1, nan});
  all(apply<float, float>("erf", {-kInf, -6, 0, 6, kInf, nan}),
      {-1, -1, 0, 1, 1, nan});
  all(apply<float, float>("rsqrt", {0, kInf, -1, 4}), {kInf, 0, nan, 0.5});
  EXPECT_TRUE(std::signbit(apply<float, float>("tanh", {-0.f})[0]));
  // A NaN with bits in its payload stays one.
  uint32_t bits = 0x7f8001ff;
  float payload;
  std::memcpy(&payload, &bits, 4);
  for (const char *f : kFunctions)
    EXPECT_TRUE(std::isnan(apply<float, float>(f, {payload, payload})[1])) << f;
}

TEST_F(Elementary, F16IsExact) {
  std::vector<uint16_t> every(65536);
  for (int i = 0; i < 65536; ++i)
    every[i] = uint16_t(i);
  // Values between the neighbours, subnormals and too large ones included.
  std::vector<float> between = sweep(0x1p-27f, 0x1p18f, 1237);
  for (size_t i = between.size(); i-- > 0;)
    between.push_back(-between[i]);
  for (Library *from : {plain.get(), library.get()}) {
    auto wide = apply<float>(*from, "widen16", every);
    auto narrow = apply<uint16_t>(*from, "narrow16", between);
    for (int i = 0; i < 65536; ++i)
      if (std::isnan(f16Value(every[i])))
        ASSERT_TRUE(std::isnan(wide[i])) << i;
      else
        ASSERT_EQ(wide[i], f16Value(every[i])) << i;
    for (size_t i = 0; i < between.size(); ++i)
      ASSERT_EQ(narrow[i], nearestF16(between[i])) << between[i];
  }
}

TEST_F(Elementary, Bf16IsExact) {
  std::vector<uint16_t> every(65536);
  for (int i = 0; i < 65536; ++i)
    every[i] = uint16_t(i);
  auto wide = apply<uint32_t>("widen", every);
  for (int i = 0; i < 65536; ++i)
    ASSERT_EQ(wide[i], uint32_t(i) << 16);
  expectNearest(*plain, false);
  expectNearest(*library, flushes);
}

// Whether it is rounded or not must not show in any of them, signalling NaN
// apart, which no operation makes.
TEST_F(Elementary, WhatBf16HoldsComesThroughItAsRoundedOnce) {
  std::vector<uint16_t> in(65536);
  for (uint32_t i = 0; i < 65536; ++i)
    in[i] = uint16_t(i);
  for (bool native : {false, true}) {
    if (native && !flushes)
      continue; // this machine has no such instruction
    auto again = apply<uint32_t>(native ? *library : *plain, "again", in);
    for (uint32_t i = 0; i < 65536; ++i) {
      bool denormal = (i & 0x7fff) < 0x80;
      bool signalling = (i & 0x7fff) > 0x7f80 && !(i & 0x40);
      uint32_t kept = (native && denormal ? i & 0x8000 : i) << 16;
      if (!signalling) {
        ASSERT_EQ(again[i], kept) << std::hex << i << (native ? " native" : "");
      }
    }
  }
}

// At each place of rows of several lengths, among numbers that are less.
TEST_F(Elementary, AMaximumKeepsNaNAndKnowsZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float tiny = std::numeric_limits<float>::denorm_min();
  const std::pair<float, float> cases[] = {
      {-0.0f, 0.0f},    {-kInf, -0.0f}, {-kInf, -3.4e38f}, {-tiny, -0.0f},
      {0.0f, tiny},     {-2.0f, -1.0f}, {1.0f, 2.0f},      {3.4e38f, kInf},
      {kInf, nan},      {-kInf, -nan},  {kInf, -nan},      {-kInf, -kInf},
      {-3.4e38f, -2.0f}};
  for (auto [less, most] : cases)
    for (size_t n : {1, 15, 17, 64, 83, 200})
      for (size_t at = 0; at < n; at += 1 + n / 9) {
        std::vector<float> row(n, less), out(n);
        row[at] = most;
        call(library->find("largest"), {row.data(), out.data()}, {int64_t(n)});
        ASSERT_EQ(std::isnan(out[0]), std::isnan(most)) << n << " " << at;
        if (!std::isnan(most)) {
          ASSERT_EQ(std::memcmp(out.data(), &most, 4), 0)
              << less << " " << most << " found " << out[0];
        }
      }
}
