//===- warp_test.cpp - lanes, warps and blocks together -------------------===//
#include "test/cuda/ptx/harness.h"

#include <cmath>

namespace mtc::ptx {
namespace {

TEST(Warp, BranchesMeetAgain) {
  // Collatz: every lane loops for its own number of times.
  auto out = wordsOf(R"(
  add.u32 %r1, %t, 1; mov.u32 %r2, 0;
L: setp.eq.u32 %p1, %r1, 1; @%p1 bra E;
  add.u32 %r2, %r2, 1; and.b32 %r3, %r1, 1; setp.eq.u32 %p2, %r3, 0;
  @%p2 bra H; mad.lo.u32 %r1, %r1, 3, 1; bra L;
H: shr.u32 %r1, %r1, 1; bra L;
E: shfl.sync.idx.b32 %r4, %r2, 26, 31, -1; sub.u32 %r2, %r2, %r4;
  add.u32 %r2, %r2, %r4; st.global.b32 [%mine], %r2;)");
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[2], 7u);
  EXPECT_EQ(out[26], 111u);
}

TEST(Warp, BranchesByTable) {
  auto out = wordsOf(R"(
  mov.u32 %r2, 9; and.b32 %r1, %t, 3;
T: .branchtargets A, B, C, D;
  brx.idx %r1, T;
A: mov.u32 %r2, 10; bra D;
B: mov.u32 %r2, 11; bra D;
C: mov.u32 %r2, 12;
D: st.global.b32 [%mine], %r2;)");
  for (uint32_t k = 0; k < 32; ++k)
    EXPECT_EQ(out[k], k % 4 == 3 ? 9 : 10 + k % 4);
}

TEST(Warp, Shuffles) {
  auto shuffled = [](const std::string &way) {
    return wordsOf("mov.u32 %r1, %t; shfl.sync." + way +
                   " st.global.b32 [%mine], %r2;");
  };
  EXPECT_EQ(shuffled("up.b32 %r2, %r1, 2, 0, -1;")[5], 3u);
  EXPECT_EQ(shuffled("up.b32 %r2, %r1, 2, 0, -1;")[1], 1u);
  EXPECT_EQ(shuffled("down.b32 %r2, %r1, 2, 31, -1;")[30], 30u);
  EXPECT_EQ(shuffled("bfly.b32 %r2, %r1, 5, 31, -1;")[7], 2u);
  EXPECT_EQ(shuffled("idx.b32 %r2, %r1, 9, 31, -1;")[0], 9u);
  // Segments of 8.
  EXPECT_EQ(shuffled("idx.b32 %r2, %r1, 1, 0x181f, -1;")[20], 17u);
  EXPECT_EQ(shuffled("down.b32 %r3|%p1, %r1, 1, 0x181f, -1;"
                     "selp.b32 %r2, 1, 0, %p1;")[15],
            0u);
}

TEST(Warp, VotesMatchesAndSums) {
  auto word = [](const std::string &body) {
    return wordsOf("setp.lt.u32 %p1, %t, 3; and.b32 %r1, %t, 1;" + body +
                   " st.global.b32 [%mine], %r2;")[2];
  };
  EXPECT_EQ(word("vote.sync.ballot.b32 %r2, %p1, -1;"), 7u);
  EXPECT_EQ(word("vote.sync.any.pred %p2, !%p1, -1; selp.b32 %r2, 1, 0, %p2;"),
            1u);
  EXPECT_EQ(word("vote.sync.all.pred %p2, %p1, -1; selp.b32 %r2, 1, 0, %p2;"),
            0u);
  EXPECT_EQ(word("match.any.sync.b32 %r2, %r1, -1;"), 0x55555555u);
  EXPECT_EQ(word("redux.sync.add.u32 %r2, %t, -1;"), 496u);
  EXPECT_EQ(word("activemask.b32 %r2;"), ~0u);
  EXPECT_EQ(word("elect.sync %r2|%p2, -1;"), 0u);
  EXPECT_EQ(word("mov.u32 %r2, %lanemask_lt;"), 3u);
}

TEST(Warp, BarriersOfAWarpAtTwoPlaces) {
  EXPECT_EQ(wordsOf("setp.lt.u32 %p1, %t, 5; mov.u32 %r1, 1; @%p1 bra L;"
                    "bar.warp.sync -1; bra E; L: bar.warp.sync -1;"
                    "mov.u32 %r1, 2; E: st.global.b32 [%mine], %r1;")[4],
            2u);
}

TEST(Warp, UnwrittenLanesOfASmallBlock) {
  Trial trial;
  trial.block = {5, 3, 1};
  auto out = wordsOf("mov.u32 %r1, %tid.y; mov.u32 %r2, %ntid.x;"
                     "mad.lo.u32 %r1, %r1, %r2, %t;"
                     "mad.wide.u32 %d1, %r1, 4, %out; mov.u32 %r3, %laneid;"
                     "st.global.b32 [%d1], %r3;",
                     trial);
  for (uint32_t k = 0; k < 15; ++k)
    EXPECT_EQ(out[k], k);
}

TEST(Block, SumsOverWarps) {
  Trial trial;
  trial.module = ".shared .align 4 .b8 s[1024];";
  trial.block.x = 256;
  trial.grid.x = 3;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    trial.options.seed = seed;
    auto out = wordsOf(R"(
  mov.u32 %r1, s; mad.lo.u32 %r1, %t, 4, %r1; st.shared.b32 [%r1], %i;
  mov.u32 %r2, 128;
L: bar.sync 0; setp.ge.u32 %p1, %t, %r2; @%p1 bra N;
  mad.lo.u32 %r3, %r2, 4, %r1; ld.shared.b32 %r4, [%r3];
  ld.shared.b32 %r5, [%r1]; add.u32 %r5, %r5, %r4; st.shared.b32 [%r1], %r5;
N: shr.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;
  bar.sync 0; ld.shared.b32 %r6, [s]; st.global.b32 [%mine], %r6;)",
                       trial);
    EXPECT_EQ(out[0], 255u * 128);
    EXPECT_EQ(out[256 * 2 + 9], 255u * 128 + 512 * 256);
  }
}

TEST(Block, NamedBarriersAndReductions) {
  Trial trial;
  trial.block.x = 128;
  trial.module = ".shared .align 4 .b8 s[1024];";
  // Half of the warps produce, the other half consumes.
  auto out = wordsOf(R"(
  mov.u32 %r1, s; and.b32 %r2, %t, 63; mad.lo.u32 %r1, %r2, 4, %r1;
  mov.u32 %r3, 0; setp.ge.u32 %p1, %t, 64; @%p1 bra C;
  st.shared.b32 [%r1], %t; bar.arrive 1, 128; bra E;
C: bar.sync 1, 128; ld.shared.b32 %r3, [%r1];
E: setp.lt.u32 %p2, %t, 33; bar.red.popc.u32 %r4, 2, %p2;
  add.u32 %r3, %r3, %r4; st.global.b32 [%mine], %r3;)",
                     trial);
  EXPECT_EQ(out[3], 33u);
  EXPECT_EQ(out[70], 6u + 33);
}

TEST(Block, SpecialRegistersAndDynamicShared) {
  Trial trial;
  trial.grid = {2, 3, 2};
  trial.block = {8, 1, 1};
  trial.outWords = 12;
  trial.dynamicShared = 100;
  trial.module = ".extern .shared .align 8 .b8 open[];";
  auto out = wordsOf(R"(
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z;
  mov.u32 %r4, %nctaid.y; mad.lo.u32 %r5, %r3, %r4, %r2;
  mov.u32 %r4, %nctaid.x; mad.lo.u32 %r5, %r5, %r4, %r1;
  setp.ne.u32 %p1, %t, 0; @%p1 ret; mad.wide.u32 %d1, %r5, 4, %out;
  st.shared.b32 [open+96], %r5; ld.shared.b32 %r6, [open+96];
  st.global.b32 [%d1], %r6;)",
                     trial);
  for (uint32_t k = 0; k < 12; ++k)
    EXPECT_EQ(out[k], k);
}

TEST(Block, SameSeedSameRun) {
  Trial trial;
  trial.block.x = 256;
  trial.outWords = 257;
  std::string body =
      "setp.eq.u32 %p1, %t, 0; @%p1 st.global.b32 [%out+1024], 0;"
      "bar.sync 0; atom.global.add.u32 %r1, [%out+1024], 1;"
      "st.global.b32 [%mine], %r1;";
  trial.options.seed = 11;
  auto first = wordsOf(body, trial);
  EXPECT_EQ(wordsOf(body, trial), first);
  trial.options.seed = 12;
  EXPECT_NE(wordsOf(body, trial), first);
}

TEST(Matrix, ProductOfFragments) {
  // A is row + column / 8, B the unit matrix: D = A, whatever the fragments.
  for (const char *type : {"f16", "bf16"}) {
    std::string to = type;
    Trial trial;
    trial.outWords = 128;
    std::string body = "shr.u32 %r10, %t, 2; and.b32 %r11, %t, 3;"
                       "shl.b32 %r11, %r11, 1;";
    for (int r = 0; r < 4; ++r) {
      std::string pair;
      for (int e = 0; e < 2; ++e) {
        std::string h = "%h" + std::to_string(e);
        body += "add.u32 %r12, %r10, " + std::to_string(8 * (r & 1)) +
                "; add.u32 %r13, %r11, " + std::to_string(8 * (r >> 1) + e) +
                "; cvt.rn.f32.u32 %f1, %r12; cvt.rn.f32.u32 %f2, %r13;"
                "fma.rn.f32 %f1, %f2, 0f3E000000, %f1; cvt.rn." +
                to + ".f32 " + h + ", %f1;";
      }
      body += "mov.b32 %r" + std::to_string(r) + ", {%h0, %h1};";
    }
    for (int r = 0; r < 2; ++r) {
      for (int e = 0; e < 2; ++e)
        body += "add.u32 %r12, %r11, " + std::to_string(8 * r + e) +
                "; setp.eq.u32 %p1, %r12, %r10; selp.f32 %f1, 0f3F800000,"
                "0f00000000, %p1; cvt.rn." +
                to + ".f32 %h" + std::to_string(e) + ", %f1;";
      body += "mov.b32 %r" + std::to_string(4 + r) + ", {%h0, %h1};";
    }
    body += "mov.f32 %f9, 0f41000000;"
            "mma.sync.aligned.m16n8k16.row.col.f32." +
            to + "." + to +
            ".f32 {%f3, %f4, %f5, %f6},"
            "{%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f9, %f9, %f9, %f9};"
            "mad.wide.u32 %d1, %t, 16, %out;"
            "st.global.v4.f32 [%d1], {%f3, %f4, %f5, %f6};";
    auto out = wordsOf(body, trial);
    for (uint32_t l = 0; l < 32; ++l)
      for (uint32_t r = 0; r < 4; ++r) {
        float row = float(l / 4 + 8 * (r >> 1)), column = 2 * (l % 4) + (r & 1);
        EXPECT_EQ(__builtin_bit_cast(float, out[4 * l + r]),
                  8 + row + column / 8)
            << l << " " << r;
      }
  }
}

TEST(Matrix, LoadsRowsAndTransposes) {
  Trial trial;
  trial.module = ".shared .align 16 .b8 s[512];";
  std::string fill = // element e of the matrices is e
      "mov.u32 %r1, s; shl.b32 %r2, %t, 4; add.u32 %r3, %r1, %r2;"
      "mov.u32 %r4, 0; L: shl.b32 %r5, %t, 3; add.u32 %r5, %r5, %r4;"
      "cvt.u16.u32 %h1, %r5; shl.b32 %r6, %r4, 1; add.u32 %r6, %r6, %r3;"
      "st.shared.b16 [%r6], %h1; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 8;"
      "@%p1 bra L; bar.warp.sync -1;";
  auto load = [&](const std::string &how, const std::string &which) {
    return wordsOf(fill + "ldmatrix.sync.aligned.m8n8." + how +
                       ".shared.b16 {%r10, %r11, %r12, %r13}, [%r3];"
                       "st.global.b32 [%mine], " +
                       which + ";",
                   trial);
  };
  // Lane 5 has elements 2 and 3 of row 1.
  EXPECT_EQ(load("x4", "%r10")[5], 10u | 11u << 16);
  EXPECT_EQ(load("x4", "%r13")[5], 202u | 203u << 16);
  EXPECT_EQ(load("x4.trans", "%r10")[5], 17u | 25u << 16);
}

} // namespace
} // namespace mtc::ptx
