//===- decode_test.cpp - what ptxas would refuse --------------------------===//
#include "test/cuda/ptx/harness.h"

namespace mtc::ptx {
namespace {

/// Refused with a sentence that has the words in it; the twin is not.
void expectRefusal(const std::string &body, const std::string &words,
                   const std::string &twin) {
  std::string sentence = refusalOf(body);
  EXPECT_NE(sentence.find(words), std::string::npos)
      << body << "\n  is refused for: '" << sentence << "'";
  EXPECT_EQ(refusalOf(twin), "") << twin;
}

TEST(Decode, WidthsOfRegisters) {
  expectRefusal("ld.global.b64 %r1, [%in];", "does not take a .b64",
                "ld.global.b64 %d1, [%in];");
  expectRefusal("ld.global.b64 %r1, [%in];", "%r1",
                "ld.global.b32 %d1, [%in];"); // a wider one is extended
  expectRefusal("add.s32 %d1, %r1, %r2;", "does not take a .s32",
                "add.s32 %r1, %r1, %r2;");
  expectRefusal("add.f32 %f1, %f2, %d3;", "is no .f32",
                "add.f32 %f1, %f2, %r3;"); // b32 has no type of its own
  expectRefusal("st.global.f32 [%out], %v1;", "is no .f32",
                "st.global.f64 [%out], %v1;");
  expectRefusal("setp.eq.s32 %r1, %r2, %r3;", "does not take a .pred",
                "setp.eq.s32 %p1, %r2, %r3;");
  expectRefusal("shl.b64 %d1, %d2, %d3;", "is no .u32",
                "shl.b64 %d1, %d2, %r3;");
  expectRefusal("cvt.rna.tf32.f32 %f1, %f2;", "does not take",
                "cvt.rna.tf32.f32 %r1, %f2;");
  expectRefusal("ld.global.b32 %r1, [%r2];", "no address of .global",
                "ld.shared.b32 %r1, [%r2];");
}

TEST(Decode, ModifiersThatAreNone) {
  expectRefusal("add.rn.s32 %r1, %r2, %r3;", "found .rn",
                "add.s32 %r1, %r2, %r3;");
  expectRefusal("mul.s32 %r1, %r2, %r3;", "expected one of .lo",
                "mul.lo.s32 %r1, %r2, %r3;");
  expectRefusal("add.rn.ftz.f64 %v1, %v2, %v3;", "neither .ftz",
                "add.rn.ftz.f32 %f1, %f2, %f3;");
  expectRefusal("div.f32 %f1, %f2, %f3;", "expected one of .rn",
                "div.rn.f32 %f1, %f2, %f3;");
  expectRefusal("cvt.f32.s32 %f1, %r1;", "expected a rounding",
                "cvt.rn.f32.s32 %f1, %r1;");
  expectRefusal("cvt.s32.f32 %r1, %f1;", "rounding to integers",
                "cvt.rzi.s32.f32 %r1, %f1;");
  expectRefusal("cvt.rn.f64.f32 %v1, %f1;", "exact", "cvt.f64.f32 %v1, %f1;");
  expectRefusal("cvt.sat.s64.s32 %d1, %r1;", "nothing to saturate",
                "cvt.sat.s32.s64 %r1, %d1;");
  expectRefusal("setp.lt.b32 %p1, %r1, %r2;", "relation",
                "setp.lt.u32 %p1, %r1, %r2;");
  expectRefusal("setp.gtu.s32 %p1, %r1, %r2;", "relation",
                "setp.gtu.f32 %p1, %f1, %f2;");
  expectRefusal("tanh.approx.ftz.f32 %f1, %f2;", "found .ftz",
                "tanh.approx.f32 %f1, %f2;");
  expectRefusal("ld.global.b32.v2 {%r1, %r2}, [%in];", ".v2 is not known",
                "ld.global.v2.b32 {%r1, %r2}, [%in];");
  expectRefusal("shfl.bfly.b32 %r1, %r2, 1, 31;", "expected one of .sync",
                "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;");
}

TEST(Decode, OperandsThatAreNone) {
  expectRefusal("add.s32 %r1, %r2;", "too few", "add.s32 %r1, %r2, 3;");
  expectRefusal("add.s32 %r1, %r2, 3, 4;", "too many", "add.s32 %r1, 4, 3;");
  expectRefusal("add.s32 %r1, %r2, 0f3F800000;", "no operand of type .s32",
                "add.f32 %f1, %f2, 0f3F800000;");
  expectRefusal("add.s32 %r1, %r2, 4294967296;", "no operand",
                "add.s32 %r1, %r2, 4294967295;");
  expectRefusal("add.s32 %r1, %r2, %r80;", "'%r80' is not declared",
                "add.s32 %r1, %r2, %r79;");
  expectRefusal("ld.global.v4.b32 {%r1, %r2}, [%in];", "4 operands in braces",
                "ld.global.v2.b32 {%r1, %r2}, [%in];");
  expectRefusal("bra nowhere;", "nothing is named 'nowhere'",
                "bra there; there:");
  expectRefusal("ld.shared.b32 %r1, [in];", "not a .shared one",
                "ld.param.b32 %r1, [in];");
  expectRefusal("bar.sync 16;", "barriers 0 to 15", "bar.sync 15;");
  expectRefusal("bar.sync 1, 33;", "no whole warps", "bar.sync 1, 64;");
  expectRefusal("mov.b64 %d1, {%r1, %h2};", "is no .b32",
                "mov.b64 %d1, {%r1, %r2};");
  expectRefusal("foo.s32 %r1, %r2;", "'foo' is not known",
                "popc.b32 %r1, %r2;");
  expectRefusal("cp.async.cg.shared.global [%r1], [%d1], 8;", "of .cg 16",
                "cp.async.ca.shared.global [%r1], [%d1], 8;");
}

TEST(Decode, MatrixShapes) {
  std::string tail = " {%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5},"
                     " {%f0,%f1,%f2,%f3};";
  expectRefusal("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32" + tail,
                "2 operands in braces",
                "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" + tail);
  expectRefusal("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32" + tail,
                "no such product",
                "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" + tail);
}

TEST(Decode, Warpgroups) {
  Trial trial;
  trial.target = "sm_90a";
  auto expectWords = [&](const std::string &body, const std::string &words) {
    std::string sentence = refusalOf(body, {}, trial);
    EXPECT_NE(sentence.find(words), std::string::npos)
        << body << "\n  is refused for: '" << sentence << "'";
  };
  std::string f = "wgmma.mma_async.sync.aligned.m64n8k16.f32.";
  std::string sums = " {%f0,%f1,%f2,%f3}, ";
  std::string good = f + "bf16.bf16" + sums + "%d0, %d1, %p0, 1, -1, 0, 1;";
  EXPECT_EQ(refusalOf(good, {}, trial), "");
  EXPECT_EQ(
      refusalOf(f + "f16.f16" + sums + "{%r0,%r1,%r2,%r3}, %d1, !%p0, 1, 1, 1;",
                {}, trial),
      "");
  EXPECT_NE(refusalOf(good).find("expected .target sm_90a"), std::string::npos);
  expectWords(f + "bf16.f16" + sums + "%d0, %d1, 1, 1, 1, 0, 0;", "found .f16");
  expectWords(f + "bf16.bf16" + sums + "%d0, %d1, 2, 1, 1, 0, 0;", "found 2");
  expectWords(f + "bf16.bf16" + sums + "%d0, %d1, 1, 0, 1, 0, 0;",
              "expected 1 or -1 as the scale of A, found 0");
  expectWords(f + "bf16.bf16" + sums + "%d0, %d1, 1, 1, 1, 2, 0;",
              "whether A is transposed");
  expectWords(f + "bf16.bf16" + sums + "%d0, %d1, 1, 1, 1, 0;", "too few");
  expectWords(f + "bf16.bf16" + sums + "{%r0,%r1,%r2,%r3}, %d1, 1, 1, 1, 0, 0;",
              "too many");
  expectWords(f + "bf16.bf16" + sums + "{%f0,%f1,%f2,%f3}, %d1, 1, 1, 1, 0;",
              "is no .u32");
  expectWords(f + "bf16.bf16 {%f0,%f1,%f2,%f0}, %d0, %d1, 1, 1, 1, 0, 0;",
              "every register of D once");
  expectWords(f + "bf16.bf16 {%f0,%f1,%f2,_}, %d0, %d1, 1, 1, 1, 0, 0;",
              "a register to write to");
  expectWords("wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16" + sums +
                  "%d0, %d1, 1, 1, 1, 0, 0;",
              "found .m64n12k16");
  expectWords("wgmma.wait_group.sync.aligned -1;", "-1 groups");
  expectWords("wgmma.fence.aligned;", "expected one of .sync");
  expectWords("setmaxnreg.inc.sync.aligned.u32 25;", "multiple of 8");
  expectWords("setmaxnreg.dec.sync.aligned.u32 264;", "multiple of 8");
  expectWords("fence.proxy.async.shared;", "not known in this place");
  expectWords("fence.proxy.alias;", "expected one of .async");
  EXPECT_EQ(refusalOf("wgmma.fence.sync.aligned; fence.proxy.async;"
                      "wgmma.commit_group.sync.aligned;"
                      "wgmma.wait_group.sync.aligned 1;"
                      "setmaxnreg.inc.sync.aligned.u32 240;"
                      "barrier.sync 1, 128; bar.arrive 2, 256;",
                      {}, trial),
            "");
}

TEST(Decode, TargetsOfOneArchitecture) {
  Trial trial;
  trial.target = "sm_90a";
  EXPECT_EQ(refusalOf("", {}, trial), "");
  Rules blackwell;
  blackwell.target = 100;
  EXPECT_NE(refusalOf("", blackwell, trial).find("runs on no other"),
            std::string::npos);
  EXPECT_EQ(refusalOf("", blackwell), "");
  for (const char *target : {"sm_90x", "sm_80a", "sm_90ab"}) {
    trial.target = target;
    EXPECT_NE(refusalOf("", {}, trial).find("is none"), std::string::npos);
  }
}

TEST(Decode, RulesOfTheCaller) {
  Rules rules;
  rules.refuseFlushToZero = rules.refuseApproximate = true;
  rules.refuseContractable = true;
  EXPECT_NE(refusalOf("add.rn.ftz.f32 %f1, %f2, %f3;", rules), "");
  EXPECT_NE(refusalOf("ex2.approx.f32 %f1, %f2;", rules), "");
  EXPECT_NE(refusalOf("rcp.approx.f32 %f1, %f2;", rules), "");
  EXPECT_NE(refusalOf("add.f32 %f1, %f2, %f3;", rules), "");
  EXPECT_NE(refusalOf("setp.lt.ftz.f32 %p1, %f2, %f3;", rules), "");
  EXPECT_EQ(refusalOf("add.rn.f32 %f1, %f2, %f3; rcp.rn.f32 %f1, %f2;", rules),
            "");
}

TEST(Decode, TargetsAndVersions) {
  std::vector<Problem> problems;
  std::string old = textAround("redux.sync.add.s32 %r1, %r2, -1;");
  old.replace(old.find("sm_90"), 5, "sm_75");
  EXPECT_FALSE(Module::fromText(old, {}, problems));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].sentence.find("sm_80"), std::string::npos);
  EXPECT_EQ(problems[0].text, "redux.sync.add.s32 %r1, %r2, -1;");
  std::string young = textAround("");
  young.replace(young.find("sm_90"), 5, "sm_95");
  problems.clear();
  EXPECT_FALSE(Module::fromText(young, {}, problems));
}

TEST(Decode, TellsAllProblemsOfAText) {
  std::vector<Problem> problems;
  EXPECT_FALSE(Module::fromText(
      textAround("foo %r1;\nadd.s32 %r1, %d2, %d3;\nbar.sync 77;"), {},
      problems));
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0].line + 1, problems[1].line);
  EXPECT_EQ(problems[1].line + 1, problems[2].line);
}

TEST(Decode, FactsOfKernels) {
  auto module = moduleOf(R"(.version 8.0
.target sm_90
.address_size 64
.shared .align 16 .b8 buffer[256];
.extern .shared .align 16 .b8 open[];
.visible .entry one(.param .u64 .ptr .align 1 a, .param .u32 n,
                    .param .align 16 .b8 block[48])
.reqntid 64, 2
{ .shared .align 4 .b8 own[20]; .local .align 8 .b8 mine[24];
  st.shared.b8 [buffer], 1; st.shared.b8 [open], 1; st.local.b8 [mine], 1; }
.entry two() { ret; }
)");
  ASSERT_TRUE(module);
  const KernelFacts *one = module->find("one");
  ASSERT_TRUE(one);
  ASSERT_EQ(one->parameters.size(), 3u);
  EXPECT_TRUE(one->parameters[0].pointer);
  EXPECT_EQ(one->parameters[1].offset, 8u);
  EXPECT_EQ(one->parameters[2].offset, 16u);
  EXPECT_EQ(one->parameterBytes, 64u);
  EXPECT_EQ(one->sharedBytes, 288u); // 256, 20, and to 16 for the open one
  EXPECT_EQ(one->localBytes, 24u);
  EXPECT_TRUE(one->dynamicShared);
  EXPECT_EQ(one->requiredBlock, (Extent{64, 2, 1}));
  EXPECT_EQ(module->find("two")->sharedBytes, 0u);
  EXPECT_EQ(module->find("three"), nullptr);
}

} // namespace
} // namespace mtc::ptx
