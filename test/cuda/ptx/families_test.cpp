//===- families_test.cpp - what instructions compute ----------------------===//
//
// By hand, for a look at each family; all forms are held to a device's bits
// elsewhere.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/harness.h"

#include <cmath>

namespace mtc::ptx {
namespace {

/// The word that one lane puts into %r0.
uint32_t word(const std::string &body) {
  Trial trial;
  trial.block.x = 1;
  return wordsOf(body + " st.global.b32 [%mine], %r0;", trial)[0];
}

uint32_t bits(float value) { return __builtin_bit_cast(uint32_t, value); }

std::string hex(float value) {
  char text[16];
  std::snprintf(text, sizeof text, "0f%08X", bits(value));
  return text;
}

/// `op` of floats, its bits.
uint32_t ofFloats(const std::string &op, std::initializer_list<float> values) {
  std::string body = op + " %f0";
  for (float each : values)
    body += ", " + hex(each);
  return word(body + "; mov.b32 %r0, %f0;");
}

constexpr uint32_t kNan = 0x7fffffff;
const float kInf = INFINITY;

TEST(Integer, Arithmetic) {
  EXPECT_EQ(word("add.s32 %r0, 2147483647, 1;"), 0x80000000u);
  EXPECT_EQ(word("add.sat.s32 %r0, 2147483647, 1;"), 0x7fffffffu);
  EXPECT_EQ(word("sub.sat.s32 %r0, -2147483648, 1;"), 0x80000000u);
  EXPECT_EQ(word("mul.hi.u32 %r0, -1, -1;"), 0xfffffffeu);
  EXPECT_EQ(word("mul.hi.s32 %r0, -1, -1;"), 0u);
  EXPECT_EQ(word("mul.wide.s32 %d0, -3, 5; cvt.u32.u64 %r0, %d0;"), ~14u);
  EXPECT_EQ(word("mul.wide.u32 %d0, -1, 2; shr.u64 %d0, %d0, 32;"
                 "cvt.u32.u64 %r0, %d0;"),
            1u);
  EXPECT_EQ(word("mad.lo.s32 %r0, 7, -3, 1;"), ~19u);
  EXPECT_EQ(word("div.s32 %r0, -7, 2;"), ~2u);
  EXPECT_EQ(word("rem.s32 %r0, -7, 2;"), ~0u);
  EXPECT_EQ(word("div.u32 %r0, 7, 0;"), ~0u);
  EXPECT_EQ(word("div.s32 %r0, -2147483648, -1;"), 0x80000000u);
  EXPECT_EQ(word("min.s32 %r0, -1, 1;"), ~0u);
  EXPECT_EQ(word("min.u32 %r0, -1, 1;"), 1u);
  EXPECT_EQ(word("abs.s32 %r0, -5;"), 5u);
  EXPECT_EQ(word("sad.u32 %r0, 3, 10, 100;"), 107u);
  EXPECT_EQ(word("mul24.lo.s32 %r0, 0xffffff, 5;"), ~4u);
  EXPECT_EQ(word("dp4a.s32.s32 %r0, 0x01020304, 0x01010101, 5;"), 15u);
  EXPECT_EQ(word("add.u16x2 %r0, 0xffff0001, 0x00010002;"), 3u);
}

TEST(Integer, ChainsOfCarries) {
  EXPECT_EQ(word("add.cc.u32 %r1, -1, 1; addc.u32 %r0, 5, 0;"), 6u);
  EXPECT_EQ(word("add.cc.u32 %r1, 1, 1; addc.u32 %r0, 5, 0;"), 5u);
  EXPECT_EQ(word("sub.cc.u32 %r1, 0, 1; subc.u32 %r0, 5, 0;"), 4u);
  EXPECT_EQ(word("mad.lo.cc.u32 %r1, -1, 2, 5; madc.hi.u32 %r0, -1, 2, 0;"),
            2u);
}

TEST(Bits, LogicShiftsAndFields) {
  EXPECT_EQ(word("shl.b32 %r0, 1, 31;"), 0x80000000u);
  EXPECT_EQ(word("shl.b32 %r0, 1, 32;"), 0u);
  EXPECT_EQ(word("shr.s32 %r0, -8, 1;"), ~3u);
  EXPECT_EQ(word("shr.s32 %r0, -8, 99;"), ~0u);
  EXPECT_EQ(word("shf.l.wrap.b32 %r0, 0x80000000, 1, 33;"), 3u);
  EXPECT_EQ(word("shf.r.clamp.b32 %r0, 1, 0x55, 40;"), 0x55u);
  EXPECT_EQ(word("lop3.b32 %r0, 0xf0f0, 0xff00, 0xcccc, 0x96;"),
            0xf0f0u ^ 0xff00u ^ 0xccccu);
  EXPECT_EQ(word("prmt.b32 %r0, 0x33221100, 0x77665544, 0x0175;"), 0x00117755u);
  EXPECT_EQ(word("prmt.b32 %r0, 0x80, 0, 0x8888;"), ~0u);
  EXPECT_EQ(word("bfe.s32 %r0, 0xf0, 4, 4;"), ~0u);
  EXPECT_EQ(word("bfe.u32 %r0, 0xf0, 4, 4;"), 15u);
  EXPECT_EQ(word("bfi.b32 %r0, 0xff, 0, 4, 4;"), 0xf0u);
  EXPECT_EQ(word("popc.b32 %r0, 0xff;"), 8u);
  EXPECT_EQ(word("clz.b32 %r0, 0xff;"), 24u);
  EXPECT_EQ(word("brev.b32 %r0, 1;"), 0x80000000u);
  EXPECT_EQ(word("bfind.s32 %r0, -1;"), ~0u);
  EXPECT_EQ(word("fns.b32 %r0, 0xf0, 0, 2;"), 5u);
}

TEST(Float, RoundsAsItIsTold) {
  float tiny = 0x1p-30f;
  EXPECT_EQ(ofFloats("add.rn.f32", {1, tiny}), bits(1));
  EXPECT_EQ(ofFloats("add.rp.f32", {1, tiny}), bits(1) + 1);
  EXPECT_EQ(ofFloats("add.rm.f32", {1, -tiny}), bits(1) - 1);
  EXPECT_EQ(ofFloats("add.rz.f32", {1, -tiny}), bits(1) - 1);
  EXPECT_EQ(ofFloats("div.rz.f32", {1, 3}), 0x3eaaaaaau);
  EXPECT_EQ(ofFloats("div.rn.f32", {1, 3}), 0x3eaaaaabu);
  EXPECT_EQ(ofFloats("sqrt.rp.f32", {2}), 0x3fb504f4u);
  EXPECT_EQ(ofFloats("rcp.rm.f32", {3}), 0x3eaaaaaau);
  // One rounding and not two.
  float a = 1 + 0x1p-12f;
  EXPECT_EQ(ofFloats("fma.rn.f32", {a, a, -1}), bits(std::fmaf(a, a, -1)));
  EXPECT_NE(ofFloats("fma.rn.f32", {a, a, -1}), bits(a * a - 1));
}

TEST(Float, SubnormalsAndNans) {
  float small = 0x1p-140f;
  EXPECT_EQ(ofFloats("add.rn.f32", {small, 0}), bits(small));
  EXPECT_EQ(ofFloats("add.rn.ftz.f32", {-small, -0.0f}), 0x80000000u);
  EXPECT_EQ(ofFloats("mul.rn.ftz.f32", {0x1p-100f, 0x1p-30f}), 0u);
  EXPECT_EQ(ofFloats("add.rn.f32", {kInf, -kInf}), kNan);
  EXPECT_EQ(ofFloats("mul.rn.f32", {NAN, 1}), kNan);
  EXPECT_EQ(ofFloats("sqrt.rn.f32", {-1}), kNan);
  EXPECT_EQ(ofFloats("add.sat.f32", {NAN, 1}), 0u);
  EXPECT_EQ(ofFloats("add.sat.f32", {3, 1}), bits(1));
  EXPECT_EQ(ofFloats("max.f32", {NAN, 1}), bits(1));
  EXPECT_EQ(ofFloats("max.NaN.f32", {NAN, 1}), kNan);
  EXPECT_EQ(ofFloats("min.f32", {0.0f, -0.0f}), 0x80000000u);
  EXPECT_EQ(ofFloats("max.f32", {-0.0f, 0.0f}), 0u);
  EXPECT_EQ(ofFloats("ex2.approx.f32", {3}), bits(8));
  EXPECT_EQ(ofFloats("copysign.f32", {-1, 3}), bits(-3));
}

// What LLVM makes of vectors from sm_100 on; no GPU was asked.
TEST(Float, PairsAreTwo) {
  Trial trial;
  trial.target = "sm_100";
  trial.version = "8.6";
  trial.device = 100;
  trial.block.x = 1;
  trial.outWords = 2;
  auto pair = [&](const std::string &op, const std::string &operands) {
    return wordsOf("mov.b64 %d1, {0x3f800000, 0x40000000};" // 1, 2
                   "mov.b64 %d2, {0x33800000, 0x7f7fffff};" // 2^-24, most
                   "mov.b64 %d3, {0x80000001, 0xff800000};" // -2^-149, -inf
                       + op + " %d0, " + operands +
                       "; st.global.b64 [%out], %d0;",
                   trial);
  };
  using Words = std::vector<uint32_t>;
  EXPECT_EQ(pair("add.rn.f32x2", "%d1, %d2"), (Words{0x3f800000, 0x7f7fffff}));
  EXPECT_EQ(pair("sub.rn.f32x2", "%d1, %d2"), (Words{0x3f7fffff, 0xff7fffff}));
  EXPECT_EQ(pair("mul.rn.f32x2", "%d1, %d2"), (Words{0x33800000, 0x7f800000}));
  EXPECT_EQ(pair("fma.rn.f32x2", "%d2, %d1, %d3"),
            (Words{0x33800000, 0xff800000}));
  EXPECT_EQ(pair("add.rn.f32x2", "%d3, %d3"), (Words{0x80000002, 0xff800000}));
  EXPECT_EQ(pair("add.rn.ftz.f32x2", "%d3, %d1"),
            (Words{0x3f800000, 0xff800000}));
  Rules blackwell;
  blackwell.target = 100;
  trial.version = "8.5";
  EXPECT_NE(refusalOf("add.rn.f32x2 %d0, %d0, %d0;", blackwell, trial), "");
  EXPECT_NE(refusalOf("add.rn.f32x2 %d0, %d0, %d0;"), "");
  trial.version = "8.6";
  EXPECT_EQ(refusalOf("add.rn.f32x2 %d0, %d0, %d0;", blackwell, trial), "");
  EXPECT_NE(refusalOf("add.rz.f32x2 %d0, %d0, %d0;", blackwell, trial), "");
  EXPECT_NE(refusalOf("min.f32x2 %d0, %d0, %d0;", blackwell, trial), "");
}

TEST(Half, RoundsOnce) {
  auto half = [](const std::string &op, const std::string &operands) {
    return word("mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x1001; mov.b16 %h3, 0x7bff;"
                "mov.b16 %h4, 0x3f81;" +
                op + " %h0, " + operands + "; cvt.u32.u16 %r0, %h0;");
  };
  EXPECT_EQ(half("add.f16", "%h1, %h2"),
            0x3c01u); // 1 and half an ulp, and more
  EXPECT_EQ(half("add.f16", "%h3, %h3"), 0x7c00u);
  EXPECT_EQ(half("mul.f16", "%h2, %h2"), 0x0004u);
  EXPECT_EQ(half("fma.rn.bf16", "%h4, %h4, %h4"), 0x4002u);
  EXPECT_EQ(half("neg.f16", "%h1"), 0xbc00u);
  EXPECT_EQ(half("max.bf16", "%h4, %h1"), 0x3f81u);
  EXPECT_EQ(word("mov.b32 %r1, 0x3c003c00; mov.b32 %r2, 0x3c004000; "
                 "add.rn.f16x2 %r0, %r1, %r2;"),
            0x40004200u);
}

TEST(Convert, BetweenKinds) {
  auto fromFloat = [](const std::string &op, float value) {
    return word("mov.f32 %f1, " + hex(value) + "; " + op + " %r0, %f1;");
  };
  EXPECT_EQ(fromFloat("cvt.rni.s32.f32", 2.5f), 2u);
  EXPECT_EQ(fromFloat("cvt.rpi.s32.f32", 2.1f), 3u);
  EXPECT_EQ(fromFloat("cvt.rzi.s32.f32", -2.9f), ~1u);
  EXPECT_EQ(fromFloat("cvt.rzi.u32.f32", -1), 0u);
  EXPECT_EQ(fromFloat("cvt.rzi.s32.f32", 3e9f), 0x7fffffffu);
  EXPECT_EQ(fromFloat("cvt.rzi.s32.f32", NAN), 0u);
  EXPECT_EQ(fromFloat("cvt.rzi.s8.f32", -200), uint32_t(-128));
  EXPECT_EQ(fromFloat("cvt.rna.tf32.f32", 1 + 0x1p-11f), bits(1 + 0x1p-10f));
  EXPECT_EQ(word("cvt.s16.s32 %h0, 0x18000; cvt.s32.s16 %r0, %h0;"),
            0xffff8000u);
  EXPECT_EQ(word("cvt.s8.s32 %r0, 200;"), uint32_t(200 - 256));
  EXPECT_EQ(word("cvt.u8.s32 %r0, 300;"), 44u);
  EXPECT_EQ(word("cvt.sat.u8.s32 %r0, 300;"), 255u);
  EXPECT_EQ(word("cvt.sat.u8.s32 %r0, -5;"), 0u);
  EXPECT_EQ(word("cvt.rn.f32.s32 %f0, 16777217; mov.b32 %r0, %f0;"),
            bits(16777216));
  EXPECT_EQ(word("cvt.rp.f32.s32 %f0, 16777217; mov.b32 %r0, %f0;"),
            bits(16777218));
  EXPECT_EQ(word("mov.f32 %f1, 0f3F808000; mov.f32 %f2, 0f3F818000;"
                 "cvt.rn.bf16x2.f32 %r0, %f2, %f1;"),
            0x3f823f80u);
  EXPECT_EQ(word("mov.f32 %f1, 0f7FC00001; cvt.rn.f16.f32 %h0, %f1;"
                 "cvt.u32.u16 %r0, %h0;"),
            0x7fffu);
  EXPECT_EQ(word("mov.b16 %h1, 0x0001; cvt.f32.f16 %f0, %h1;"
                 "mov.b32 %r0, %f0;"),
            bits(0x1p-24f));
}

TEST(Compare, NansAndCombinations) {
  auto holds = [](const std::string &body) {
    return word(body + " selp.b32 %r0, 1, 0, %p0;");
  };
  std::string nan = "mov.f32 %f1, 0f7FC00000;";
  EXPECT_EQ(holds(nan + "setp.lt.f32 %p0, %f1, %f1;"), 0u);
  EXPECT_EQ(holds(nan + "setp.ltu.f32 %p0, %f1, %f1;"), 1u);
  EXPECT_EQ(holds(nan + "setp.ne.f32 %p0, %f1, %f1;"), 0u);
  EXPECT_EQ(holds(nan + "setp.neu.f32 %p0, %f1, %f1;"), 1u);
  EXPECT_EQ(holds(nan + "setp.nan.f32 %p0, %f1, 0f00000000;"), 1u);
  EXPECT_EQ(holds("setp.hi.u32 %p0, -1, 1;"), 1u);
  EXPECT_EQ(holds("setp.gt.s32 %p0, -1, 1;"), 0u);
  EXPECT_EQ(holds("setp.eq.s32 %p1, 1, 1; setp.eq.and.s32 %p2|%p0, 1, 2, %p1;"),
            1u);
  EXPECT_EQ(holds("setp.eq.s32 %p1, 1, 1; setp.eq.or.s32 %p0, 1, 2, !%p1;"),
            0u);
  EXPECT_EQ(word("set.lt.f32.s32 %f0, 1, 2; mov.b32 %r0, %f0;"), bits(1));
  EXPECT_EQ(word("slct.s32.f32 %r0, 5, 6, 0f80000000;"), 5u);
}

TEST(Memory, WidthsAndVectors) {
  Trial trial;
  trial.block.x = 1;
  trial.in = {0x80fe, 2, 3, 4};
  trial.outWords = 4;
  EXPECT_EQ(wordsOf("ld.global.s8 %r0, [%in]; ld.global.u8 %r1, [%in];"
                    "ld.global.s16 %r2, [%in]; ld.global.s32 %d0, [%in];"
                    "cvt.u32.u64 %r3, %d0;"
                    "st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3};",
                    trial),
            (std::vector<uint32_t>{~1u, 0xfe, 0xffff80fe, 0x80fe}));
  EXPECT_EQ(wordsOf("ld.global.v2.b64 {%d0, %d1}, [%in];"
                    "st.global.v2.b64 [%out], {%d1, %d0};",
                    trial),
            (std::vector<uint32_t>{3, 4, 0x80fe, 2}));
}

TEST(Memory, GenericAddresses) {
  Trial trial;
  trial.block.x = 1;
  trial.module = ".shared .align 4 .b32 s;";
  EXPECT_EQ(wordsOf(".local .align 4 .b32 l; mov.u64 %d0, s;"
                    "cvta.shared.u64 %d0, %d0; mov.u64 %d1, l;"
                    "cvta.local.u64 %d1, %d1; st.b32 [%d0], 40;"
                    "st.b32 [%d1], 2; ld.shared.b32 %r1, [s];"
                    "ld.local.b32 %r2, [l]; isspacep.shared %p1, %d0;"
                    "add.u32 %r1, %r1, %r2; @!%p1 trap;"
                    "cvta.to.shared.u64 %d2, %d0; ld.shared.b32 %r3, [%d2];"
                    "add.u32 %r1, %r1, %r3; st.b32 [%mine], %r1;",
                    trial)[0],
            82u);
}

TEST(Atomics, ReturnWhatWasThere) {
  Trial trial;
  trial.block.x = 64;
  trial.outWords = 65;
  std::string head = "setp.eq.u32 %p1, %t, 0; @%p1 st.global.b32 [%out+256], 0;"
                     "bar.sync 0;";
  auto out = wordsOf(head + "atom.global.add.u32 %r1, [%out+256], 1;"
                            "st.global.b32 [%mine], %r1;",
                     trial);
  EXPECT_EQ(out[64], 64u);
  std::sort(out.begin(), out.end());
  for (uint32_t k = 0; k < 65; ++k)
    EXPECT_EQ(out[k], k);
  out = wordsOf(head + "atom.global.cas.b32 %r1, [%out+256], 0, 7;"
                       "atom.global.inc.u32 %r2, [%out+256], 9;"
                       "red.global.max.s32 [%out+256], -3;"
                       "st.global.b32 [%mine], 0;",
                trial);
  EXPECT_LE(out[64], 9u);
  // Sums of floats outside of shared memory flush subnormals.
  EXPECT_EQ(wordsOf(head + "red.global.add.f32 [%out+256], 0f00000001;"
                           "st.global.b32 [%mine], 0;",
                    trial)[64],
            0u);
}

} // namespace
} // namespace mtc::ptx
