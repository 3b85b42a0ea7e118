//===- float_bits_test.cpp - which integers are bits of a float -----------===//
#include "float_bits.h"
#include "instruction_text.h"

#include <gtest/gtest.h>

using namespace mtc::test;

namespace {

/// What the last of some lines is told to read.
bool lastReads(std::vector<std::string> lines) {
  return floatBitsOf(lines).readers.contains(static_cast<int>(lines.size()));
}

} // namespace

TEST(InstructionText, HasGuardsVectorsAndScopes) {
  auto one = instructionOf("\t@!%p1 ld.global.v2.b32 \t{%r1, %r2}, [%rd1+8];");
  EXPECT_EQ(one.operation, "ld.global.v2.b32");
  EXPECT_EQ(one.destination, "{%r1, %r2}");
  EXPECT_EQ(one.sources, "[%rd1+8]");
  auto store = instructionOf("st.global.b32 [%rd1], %r2; // of %r3");
  EXPECT_EQ(store.destination, "");
  EXPECT_EQ(store.sources, "[%rd1], %r2");
  EXPECT_EQ(instructionOf("$L__BB0_1:").operation, "");
  EXPECT_EQ(instructionOf("").operation, "");
  auto all =
      instructionsOf({".visible .entry k(", ".param .u64 a)", "{",
                      "{ .reg .b16 t; mov.b32 {t, %rs1}, %r2; }",
                      "\t.loc 1 2 3", "L: add.s32", "  %r1, %r2, 0f00;", "}"});
  std::vector<std::pair<int, std::string>> found;
  for (const InstructionText &each : all)
    if (!each.operation.starts_with("."))
      found.emplace_back(each.line, each.operation);
  EXPECT_EQ(found, (std::vector<std::pair<int, std::string>>{{4, "mov.b32"},
                                                             {6, "add.s32"}}));
  EXPECT_EQ(namesIn("{t, %rs1}, 0f3F800000, -1, [%rd1+x]"),
            (std::vector<std::string>{"t", "%rs1", "%rd1", "x"}));
}

TEST(FloatBits, GoWhereTheyAreMoved) {
  std::string shift = "shr.u32 %r2, %r1, 16;";
  EXPECT_FALSE(lastReads({"mov.u32 %r1, %tid.x;", shift}));
  EXPECT_FALSE(lastReads({"ld.param.b32 %r1, [a];", shift}));
  EXPECT_FALSE(lastReads(
      {"setp.lt.f32 %p1, %f1, %f2;", "selp.b32 %r1, 1, 2, %p1;", shift}));
  EXPECT_FALSE(lastReads({"mov.u32 %r1, %tid.x;", "cvt.rn.f32.u32 %f1, %r1;",
                          "st.shared.f32 [%r1], %f1;", shift}));
  EXPECT_TRUE(lastReads({"ld.global.b32 %r1, [%rd1];", shift}));
  EXPECT_TRUE(lastReads({"mov.b32 %r1, 0f3F800000;", shift}));
  EXPECT_TRUE(lastReads({"cvt.rzi.s32.f32 %r1, %f1;", shift}));
  // Before it is read, behind it, and by way of others.
  EXPECT_TRUE(lastReads({"mov.b32 %r3, %f1;", "xor.b32 %r1, %r4, %r3;", shift,
                         "neg.f32 %f1, %f2;", shift}));
  EXPECT_TRUE(
      lastReads({"mov.u32 %r1, %r3;", "ex2.approx.f32 %r4, %r1;", shift}));
}

TEST(FloatBits, AreOfOneFunctionEach) {
  std::vector<std::string> lines = {
      ".visible .entry a()",   "ld.global.b32 %r1, [%rd1];",
      "shr.u32 %r2, %r1, 16;", ".visible .entry b()",
      "mov.u32 %r1, %tid.x;",  "shr.u32 %r2, %r1, 16;"};
  EXPECT_EQ(floatBitsOf(lines).readers, (std::set<int>{3}));
}

TEST(FloatBits, AreCutWhereAPartIsUsedNowhere) {
  std::vector<std::string> lines = {"ld.global.b32 %r1, [%rd1];",
                                    "mov.b32 {%rs1, %rs2}, %r1;",
                                    "cvt.u32.u16 %r2, %rs2;"};
  EXPECT_EQ(floatBitsOf(lines).cutters, (std::set<int>{2}));
  lines.push_back("cvt.u32.u16 %r3, %rs1;");
  EXPECT_EQ(floatBitsOf(lines).cutters, (std::set<int>{}));
}
