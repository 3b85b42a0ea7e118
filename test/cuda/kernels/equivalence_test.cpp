//===- equivalence_test.cpp - which mutants a rule takes for equal --------===//
//
// Each rule beside a twin that has the same bits, too, but not by that rule,
// or that has other bits.
//
//===----------------------------------------------------------------------===//
#include "equivalence.h"

#include "test/cuda/ptx/harness.h"

#include <sstream>

using namespace mtc;
using namespace mtc::test;

namespace {

constexpr const char *kOther = "other bits";

/// Each instruction is a line, as compilers write it.
std::string inLines(const std::string &text) {
  std::string lines;
  for (char c : text) {
    lines += c;
    if (c == ';')
      lines += '\n';
  }
  return lines;
}

std::vector<std::string> linesOfText(const std::string &text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

std::vector<uint32_t> run(const std::string &body, ptx::Trace &trace) {
  ptx::Trial trial;
  trial.in = {0, 1, 2, 3, 0xbf800000, 0x3f800000, 6, 7};
  trial.in.resize(32, 5);
  trial.options.observer = &trace;
  return ptx::wordsOf(body, trial);
}

/// The rule by which `from` may be `to`; in both bodies a line starts with each
/// of these, after `before` and before `behind`.
std::string ruleOfChange(const std::string &before, const std::string &from,
                         const std::string &to, const std::string &behind,
                         const std::string &kind = "number",
                         Stores stores = Stores::compared) {
  std::string head = inLines(before) + "\n\t", tail = "\n" + inLines(behind);
  auto lines = linesOfText(ptx::textAround(head + from + tail));
  auto others = linesOfText(ptx::textAround(head + to + tail));
  Mutant mutant{kind, 0, others};
  while (lines[mutant.line] == others[mutant.line])
    ++mutant.line;
  int line = static_cast<int>(mutant.line) + 1;
  ptx::Trace first(line), second(line);
  if (run(head + from + tail, first) != run(head + to + tail, second))
    return kOther;
  return ruleOf(lines, mutant, compare(first, second), stores);
}

const std::string kLoad = "ld.global.b32 %r1, [%arg];";
const std::string kStore = "st.global.b32 [%mine], %r9;";

} // namespace

TEST(Equivalence, NoThreadComes) {
  std::string before = kLoad + "setp.gt.u32 %p1, %t, 31; mov.b32 %r9, 1;"
                               "@!%p1 bra END;";
  EXPECT_EQ(ruleOfChange(before, "add.s32 %r9, %r9, 1;", "add.s32 %r9, %r9, 2;",
                         "END: " + kStore),
            "no thread comes to the line");
  before = kLoad + "setp.gt.u32 %p1, %t, 30; mov.b32 %r9, 1; @!%p1 bra END;";
  EXPECT_EQ(ruleOfChange(before, "add.s32 %r9, %r9, 1;", "add.s32 %r9, %r9, 2;",
                         "END: " + kStore),
            kOther);
  // A thread comes; what it makes is the same, which is another rule.
  EXPECT_EQ(ruleOfChange(before, "and.b32 %r9, %r9, 3;", "and.b32 %r9, %r9, 5;",
                         "END: " + kStore),
            "the line writes the same at every step");
}

TEST(Equivalence, TheSameAtEveryStep) {
  std::string behind = "selp.b32 %r9, 1, 2, %p1;" + kStore;
  EXPECT_EQ(ruleOfChange(kLoad, "setp.lt.u32 %p1, %r1, 4;",
                         "setp.le.u32 %p1, %r1, 4;", behind, "operation"),
            "the line writes the same at every step");
  // One lane has 3; one lane in which both choices are one is no rule of this.
  EXPECT_EQ(ruleOfChange(kLoad, "setp.lt.u32 %p1, %r1, 3;",
                         "setp.le.u32 %p1, %r1, 3;", behind, "operation"),
            kOther);
  EXPECT_EQ(ruleOfChange(kLoad, "setp.lt.u32 %p1, %r1, 3;",
                         "setp.le.u32 %p1, %r1, 3;",
                         "selp.b32 %r9, 1, 1, %p1;" + kStore, "operation"),
            "what is other is never chosen");
  // Left out: the register has the value already, or another one.
  EXPECT_EQ(ruleOfChange(kLoad + "mov.b32 %r9, 4;", "mov.b32 %r9, 4;", "",
                         kStore, "drop"),
            "the line writes the same at every step");
  EXPECT_EQ(ruleOfChange(kLoad + "mov.b32 %r9, 5;", "mov.b32 %r9, 4;", "",
                         "max.u32 %r9, %r9, 8;" + kStore, "drop"),
            "minima and maxima are the same");
  EXPECT_EQ(ruleOfChange(kLoad + "mov.b32 %r9, 5;", "mov.b32 %r9, 4;", "",
                         kStore, "drop"),
            kOther);
}

TEST(Equivalence, NobodyUsesIt) {
  EXPECT_EQ(ruleOfChange(kLoad, "add.s32 %r9, %r1, 1;", "add.s32 %r9, %r1, 2;",
                         "mov.b32 %r9, 3;" + kStore),
            "nobody uses what is other");
  // Lanes above the first get other sums, which only the first one's is of.
  std::string behind =
      "shfl.sync.bfly.b32 %r9, %r1, 1, 31, -1;"
      "setp.eq.u32 %p1, %t, 0; @%p1 st.global.b32 [%mine], %r9;";
  EXPECT_EQ(ruleOfChange(kLoad, "shfl.sync.bfly.b32 %r2, %r1, 4, 31, -1;",
                         "shfl.sync.down.b32 %r2, %r1, 4, 31, -1;",
                         "add.s32 %r1, %r1, %r2;" + behind, "operation"),
            "nobody uses what is other");
  // The second lane's is used, too.
  EXPECT_EQ(ruleOfChange(kLoad, "shfl.sync.down.b32 %r2, %r1, 5, 31, -1;",
                         "shfl.sync.down.b32 %r2, %r1, 4, 31, -1;",
                         "add.s32 %r1, %r1, %r2;" + behind),
            kOther);
}

TEST(Equivalence, WhereItGetsLost) {
  std::string from = "and.b32 %r2, %r1, 7;", to = "and.b32 %r2, %r1, 3;";
  // What is loaded may be a float: these are the lanes' own numbers.
  auto rule = [&](const std::string &behind) {
    return ruleOfChange("mov.b32 %r1, %t;", from, to, behind + kStore);
  };
  EXPECT_EQ(rule("setp.eq.u32 %p1, %t, 0; selp.b32 %r9, %r2, 1, %p1;"),
            "what is other is never chosen");
  EXPECT_EQ(rule("setp.lt.u32 %p1, %r2, 9; selp.b32 %r9, 2, 1, %p1;"),
            "comparisons answer the same");
  EXPECT_EQ(rule("max.u32 %r9, %r2, 8;"), "minima and maxima are the same");
  EXPECT_EQ(rule("and.b32 %r9, %r2, 3;"),
            "integers and bits come out the same");
  EXPECT_EQ(rule("max.u32 %r3, %r2, 8; and.b32 %r4, %r2, 1;"
                 "add.s32 %r9, %r3, %r4;"),
            "choices, comparisons, extremes and exact arithmetic make the same "
            "of it");
  // Twins, each with one lane that sees it.
  EXPECT_EQ(rule("setp.eq.u32 %p1, %t, 7; selp.b32 %r9, %r2, 1, %p1;"), kOther);
  EXPECT_EQ(rule("setp.lt.u32 %p1, %r2, 7; selp.b32 %r9, 2, 1, %p1;"), kOther);
  EXPECT_EQ(rule("max.u32 %r9, %r2, 6;"), kOther);
  EXPECT_EQ(rule("and.b32 %r9, %r2, 4;"), kOther);
}

TEST(Equivalence, RoundingIsNoRule) {
  // Lanes 4 and 5 have -1 and 1 for the first, others tiny numbers.
  std::string before = kLoad + "mov.b32 %f1, %r1;";
  std::string store = "mov.b32 %r9, %f9;" + kStore;
  EXPECT_EQ(ruleOfChange(before, "mov.f32 %f2, %f1;", "neg.f32 %f2, %f1;",
                         "fma.rn.f32 %f9, %f2, %f2, 0f3F800000;" + store),
            "sums and products are the same before they are rounded");
  EXPECT_EQ(ruleOfChange(before, "mul.rn.f32 %f2, %f1, 0f30000000;",
                         "mul.rn.f32 %f2, %f1, 0f2F800000;",
                         "add.rn.f32 %f9, %f2, 0f3F800000;" + store, "float"),
            "");
  EXPECT_EQ(
      ruleOfChange(before, "add.rn.f32 %f2, %f1, 0f40000000;",
                   "add.rn.f32 %f2, %f1, 0f40000001;",
                   "cvt.rn.bf16.f32 %h1, %f2; cvt.u32.u16 %r9, %h1;" + kStore,
                   "float"),
      "");
}

TEST(Equivalence, AnotherRegisterIsAnotherResult) {
  // 2^-31 and 2^-32, which both get lost beside 1.
  std::string before = kLoad + "mov.b32 %f1, 0f30000000;"
                               "mov.b32 %f2, 0f2F800000;"
                               "setp.lt.u32 %p1, %t, 32;";
  std::string behind = "add.rn.f32 %f9, %f2, 0f3F800000; mov.b32 %r9, %f9;";
  auto guarded = [&](const std::string &to, const std::string &between) {
    return ruleOfChange(before + "mov.b32 %f4, %f1;", "@%p1 mov.b32 %f2, %f1;",
                        to, between + behind + kStore, "register");
  };
  EXPECT_EQ(guarded("@%p1 mov.b32 %f3, %f1;", ""), "");
  EXPECT_EQ(guarded("@%p1 mov.b32 %f2, %f4;", ""),
            "the line writes the same at every step");
  EXPECT_EQ(guarded("@%p1 mov.b32 %f3, %f1;", "mov.b32 %f2, 0f30000000;"),
            "nobody uses what is other");
  before = kLoad + "mov.b32 %r2, 0x2F800000;"
                   "mov.b64 %d1, 0x3000000030000000;";
  EXPECT_EQ(ruleOfChange(before, "mov.b64 {%r1, %r2}, %d1;",
                         "mov.b64 {%r1, %r3}, %d1;",
                         "mov.b32 %f2, %r2;" + behind + kStore, "register"),
            "");
  // What an atomic operation found, where its memory gets the same.
  before = kLoad + "mov.b32 %f2, 0f2F800000; setp.lt.u32 %p1, %t, 32;"
                   "st.global.b32 [%mine], 0x30000000;";
  EXPECT_EQ(ruleOfChange(before, "@%p1 atom.global.exch.b32 %f2, [%mine], 1;",
                         "@%p1 atom.global.exch.b32 %f3, [%mine], 1;",
                         behind + kStore, "register"),
            "");
}

TEST(Equivalence, IntegersRoundFloats) {
  std::string before = kLoad + "mov.b32 %f1, %r1;";
  auto ofFloats = [&](const std::string &behind) {
    return ruleOfChange(before, "add.rn.f32 %f2, %f1, 0f40000000;",
                        "add.rn.f32 %f2, %f1, 0f40000001;",
                        "mov.b32 %r2, %f2;" + behind + kStore, "float");
  };
  auto ofIntegers = [&](const std::string &behind) {
    return ruleOfChange("", "add.s32 %r2, %t, 1024;", "add.s32 %r2, %t, 1025;",
                        behind + kStore);
  };
  const char *roundings[] = {"add.s32 %r3, %r2, 32767; shr.u32 %r9, %r3, 16;",
                             "prmt.b32 %r9, %r2, 0, 0x4432;",
                             "and.b32 %r9, %r2, 0xffff0000;",
                             "shr.u32 %r3, %r2, 8; cvt.u32.u8 %r9, %r3;"};
  for (const char *each : roundings) {
    EXPECT_EQ(ofFloats(each), "") << each;
    EXPECT_EQ(ofIntegers(each), "integers and bits come out the same") << each;
  }
  // Cut into halves, of which one is used.
  std::string upper = "mov.b32 {%h1, %h2}, %r2; cvt.u32.u16 %r9, %h2;";
  EXPECT_EQ(ofFloats(upper), "");
  EXPECT_EQ(ofIntegers(upper), "nobody uses what is other");
}

TEST(Equivalence, SumsInMemoryAreRounded) {
  std::string before = kLoad + "st.global.b32 [%mine], 0x3F800000;";
  EXPECT_EQ(ruleOfChange(before, "mov.b32 %f2, 0f30000000;",
                         "mov.b32 %f2, 0f2F800000;",
                         "red.global.add.f32 [%mine], %f2;", "float"),
            "");
  EXPECT_EQ(ruleOfChange(before, "mov.b32 %f2, 0f30000000;",
                         "mov.b32 %f2, 0f2F800000;",
                         "atom.global.add.f32 %f3, [%mine], %f2;", "float"),
            "");
  EXPECT_EQ(ruleOfChange(before, "mov.b32 %r2, 3;", "mov.b32 %r2, 4;",
                         "red.global.max.u32 [%mine], %r2;"),
            "nobody uses what is other");
  EXPECT_EQ(ruleOfChange(before, "mov.b32 %r2, 3;", "mov.b32 %r2, 4;",
                         "red.global.add.u32 [%mine], %r2;"),
            kOther);
}

TEST(Equivalence, AnotherWayAndEffectsAreNoRule) {
  std::string before = kLoad + "and.b32 %r9, %r1, 0;";
  std::string behind = "@%p1 bra END; mov.b32 %r9, 0; END:" + kStore;
  EXPECT_EQ(ruleOfChange(before, "setp.lt.u32 %p1, %r1, 3;",
                         "setp.le.u32 %p1, %r1, 3;", behind, "operation"),
            "");
  EXPECT_EQ(ruleOfChange(kLoad, "bar.sync 0;", "", "mov.b32 %r9, 1;" + kStore,
                         "drop"),
            "");
  // A store of what is there, one that the next one covers, and one that is
  // loaded again.
  before = kLoad + "mov.b32 %r9, 7; st.global.b32 [%mine], 7;";
  EXPECT_EQ(ruleOfChange(before, "st.global.b32 [%mine], 7;", "", "", "drop"),
            "nobody uses what is other");
  EXPECT_EQ(ruleOfChange(before, "st.global.b32 [%mine], 6;", "",
                         "ld.global.b32 %r2, [%mine]; setp.lt.u32 %p1, %r2, 7;"
                         "@%p1 bra END; mov.b32 %r9, 7; END: " +
                             kStore,
                         "drop"),
            "");
}

TEST(Equivalence, StoresAreOpenWhereOthersLoad) {
  std::string before = kLoad + "mov.b32 %r2, 5; mov.b32 %r9, 7;";
  auto rule = [&](const std::string &line, const std::string &behind) {
    return ruleOfChange(before, line, "", behind + kStore, "drop",
                        Stores::open);
  };
  EXPECT_EQ(rule("st.global.b32 [%mine], 6;", ""), "");
  EXPECT_EQ(rule("mov.b32 %r2, 6;", "add.s32 %r3, %r2, 1;"),
            "nobody uses what is other");
  // The first lane's neighbours get something else, for a while.
  EXPECT_EQ(rule("mov.b32 %r1, 6;", "st.global.b32 [%mine], %r1;"), "");
}

TEST(Equivalence, OperandsWhoseOrderDoesNotMatter) {
  auto may = [](const std::string &one, const std::string &two) {
    return isExchange("\t" + one, "\t" + two);
  };
  EXPECT_TRUE(
      may("add.rn.f32 \t%r1, %r2, %r3;", "add.rn.f32 \t%r1, %r3, %r2;"));
  EXPECT_TRUE(may("fma.rn.f32 \t%r1, %r2, %r3, %r4;",
                  "fma.rn.f32 \t%r1, %r3, %r2, %r4;"));
  EXPECT_TRUE(
      may("setp.eq.b64 \t%p1, %rd2, %rd3;", "setp.eq.b64 \t%p1, %rd3, %rd2;"));
  EXPECT_FALSE(
      may("sub.rn.f32 \t%r1, %r2, %r3;", "sub.rn.f32 \t%r1, %r3, %r2;"));
  EXPECT_FALSE(may("fma.rn.f32 \t%r1, %r2, %r3, %r4;",
                   "fma.rn.f32 \t%r1, %r2, %r4, %r3;"));
  EXPECT_FALSE(may("fma.rn.f32 \t%r1, %r2, 0f3F800000, %r4;",
                   "fma.rn.f32 \t%r1, %r4, 0f3F800000, %r2;"));
  EXPECT_FALSE(may("fma.rn.f32 \t%r1, %r2, %r3, %r4;",
                   "fma.rn.f32 \t%r1, %r3, %r2, %r5;"));
  EXPECT_FALSE(
      may("setp.lt.s32 \t%p1, %r2, %r3;", "setp.lt.s32 \t%p1, %r3, %r2;"));
  EXPECT_FALSE(
      may("add.rn.f32 \t%r1, %r2, %r3;", "add.rn.f32 \t%r2, %r3, %r2;"));
}
