//===- syntax_test.cpp - texts, also bad ones -----------------------------===//
#include "test/cuda/ptx/harness.h"

#include "test/cuda/ptx/machine/random.h"
#include "test/cuda/ptx/syntax/lexer.h"

namespace mtc::ptx {
namespace {

TEST(Lexer, Tokens) {
  std::vector<Problem> problems;
  auto tokens = tokensOf("@!%p1 ld.shared::cta.b32 %r1,[a+-4]; // x\n"
                         "0x1F 017 0b11 42U 0f3F800000 0d4000000000000000 1.5",
                         problems);
  EXPECT_TRUE(problems.empty());
  ASSERT_EQ(tokens.size(), 21u);
  EXPECT_EQ(tokens[3].text, "ld.shared::cta.b32");
  EXPECT_EQ(tokens[13].bits, 31u);
  EXPECT_EQ(tokens[13].line, 2);
  EXPECT_EQ(tokens[14].bits, 15u);
  EXPECT_EQ(tokens[15].bits, 3u);
  EXPECT_EQ(tokens[16].bits, 42u);
  EXPECT_EQ(tokens[17].kind, TokenKind::single);
  EXPECT_EQ(tokens[17].bits, 0x3f800000u);
  EXPECT_EQ(tokens[18].bits, 0x4000000000000000u);
  EXPECT_EQ(__builtin_bit_cast(double, tokens[19].bits), 1.5);
}

TEST(Lexer, WhatIsNoToken) {
  for (const char *text : {"`", "\"open", "/* open", "0x", "12ab", "0f12"}) {
    std::vector<Problem> problems;
    tokensOf(text, problems);
    EXPECT_EQ(problems.size(), 1u) << text;
  }
}

TEST(Parser, ScopesOfInlineAssembly) {
  // An inner register hides an outer one, and labels are of their braces.
  auto out = wordsOf(R"(
  mov.u32 %r1, 5;
  { .reg .b32 %r<2>; .reg .pred p;
    mov.u32 %r1, 9; setp.eq.u32 p, %r1, 9; @p bra L; mov.u32 %r1, 1;
  L: add.u32 %r1, %r1, 1; }
  { bra L; mov.u32 %r1, 2; L: add.u32 %r1, %r1, 1; }
  st.global.b32 [%mine], %r1;)");
  EXPECT_EQ(out[0], 6u);
}

TEST(Parser, InstructionsOverSeveralLines) {
  EXPECT_EQ(wordsOf("add.u32\n %r1,\n %t,\n 4\n; st.global.b32\n[%mine],"
                    " %r1;")[3],
            7u);
}

TEST(Parser, DirectivesThatChangeNothing) {
  auto module = moduleOf(R"(.version 8.0
.target sm_90, debug
.address_size 64
.file 1 "a.cu"
.pragma "x";
.visible .entry k(.param .u32 a) .maxntid 128, 1, 1 .minnctapersm 2
{ .loc 1 4 2
  .pragma "nounroll";
  .loc 1 4 2, function_name $L__info, inlined_at 1 3 3
  ret; }
.section .debug_str { .b8 1, 2 .b8 3 { } }
)");
  EXPECT_TRUE(module);
}

TEST(Parser, InitialisedVariables) {
  Trial trial;
  trial.module = ".global .align 4 .b32 table[4] = {1, -2, 0x30};"
                 ".const .align 8 .b64 where[2] = {table, table+8};"
                 ".global .align 4 .f32 half = 0f3F000000;";
  trial.block.x = 1;
  trial.outWords = 4;
  auto out = wordsOf(R"(
  ld.const.b64 %d1, [where+8]; ld.global.b32 %r1, [%d1];
  ld.global.b32 %r2, [table+4]; ld.global.b32 %r3, [half];
  ld.global.b32 %r4, [table+12];
  st.global.v4.b32 [%out], {%r1, %r2, %r3, %r4};)",
                     trial);
  EXPECT_EQ(out, (std::vector<uint32_t>{0x30, ~1u, 0x3f000000, 0}));
}

TEST(Parser, Refusals) {
  struct Case {
    const char *text, *words;
  };
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  for (auto [text, words] : std::initializer_list<Case>{
           {".entry k() { ret; } .entry k() { ret; }", "there twice"},
           {".entry k() { L: L: ret; }", "there twice"},
           {".entry k() { .reg .b32 %r; .reg .b32 %r; ret; }", "there twice"},
           {".entry k() { ret;", "expected '}'"},
           {".entry k() { add.s32; }", "too few"},
           {".entry k() { ret }", "expected an operand"},
           {".entry k( { ret; }", "expected .param"},
           {".global .b32 x[0];", "from 1 byte"},
           {".global .b32 x[99999999999];", "from 1 byte"},
           {".global .align 3 .b32 x;", "power of two"},
           {".global .b32 x = {1, 2};", "more values"},
           {".shared .b32 x = 1;", "starts unwritten"},
           {".texref t;", "expected a kernel"},
           {".entry k() { .reg .foo %r; }", "expected a type"},
           {".entry k() { @%p ret; }", "expected a register of type pred"},
           {".func f() { ret; } .entry k() { call f; }", "call"}}) {
    std::vector<Problem> problems;
    EXPECT_FALSE(Module::fromText(head + text, {}, problems)) << text;
    ASSERT_FALSE(problems.empty());
    EXPECT_NE(describe(problems).find(words), std::string::npos)
        << text << "\n"
        << describe(problems);
  }
  std::vector<Problem> problems;
  EXPECT_FALSE(Module::fromText("", {}, problems));
  EXPECT_FALSE(Module::fromText(".version 8.0", {}, problems));
}

/// Whatever is done to a text, it is taken or refused.
TEST(Parser, MutatedTexts) {
  Trial trial;
  trial.module = ".shared .align 4 .b8 s[64]; .global .b32 g[2] = {1, 2};";
  std::string text = textAround(
      "L: mad.lo.s32 %r1, %t, 4, %r2; { .reg .b64 %x; mov.b64 %x, {%r1, %r2}; }"
      "@!%p1 bra L; ld.shared.v2.b32 {%r1, _}, [s+8]; bar.sync 1, 64;"
      "T: .branchtargets L, M; M: brx.idx %r1, T; fma.rn.f32 %f1, %f2, 0f3F80"
      "0000, 1.5; shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1; cvt.rn.f16.f32 %h1,"
      "%f1; cp.async.ca.shared.global [%r1], [%in+-4], 4; trap;",
      trial);
  const std::string marks = "{}()[]<>,;:|=+-!@%._ \n0x9fDr\"/*";
  Random random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string mutated = text;
    for (uint64_t k = 1 + random.below(4); k > 0; --k) {
      size_t at = random.below(mutated.size()), count = random.below(12);
      switch (random.below(4)) {
      case 0:
        mutated.erase(at, count);
        break;
      case 1:
        mutated[at] = marks[random.below(marks.size())];
        break;
      case 2:
        mutated.insert(at, mutated.substr(random.below(mutated.size()), count));
        break;
      default:
        mutated.resize(at);
      }
      mutated += ' ';
    }
    std::vector<Problem> problems;
    auto module = Module::fromText(mutated, {}, problems);
    ASSERT_EQ(module == nullptr, !problems.empty());
  }
}

} // namespace
} // namespace mtc::ptx
