//===- faults_test.cpp - planted faults, and their legal twins ------------===//
#include "test/cuda/ptx/harness.h"

namespace mtc::ptx {
namespace {

const std::string kShared = ".shared .align 16 .b8 s[1024];\n";

Trial sharedTrial(uint32_t threads = 64) {
  Trial trial;
  trial.module = kShared;
  trial.block.x = threads;
  trial.in.assign(threads, 7);
  return trial;
}

TEST(Faults, OutOfBounds) {
  Trial trial;
  trial.in.assign(32, 1);
  expectFault(FaultKind::outOfBounds,
              "ld.global.b32 %r1, [%arg+4]; st.global.b32 [%mine], %r1;",
              "ld.global.b32 %r1, [%arg]; st.global.b32 [%mine], %r1;", trial);
  expectFault(FaultKind::outOfBounds,
              "add.u64 %d1, %in, 126; st.b32 [%d1+2], 1;", "st.b32 [%mine], 1;",
              trial);
  expectFault(FaultKind::outOfBounds, "st.shared.b32 [s+1024], 1;",
              "st.shared.b32 [s+1020], 1;", sharedTrial(32));
}

TEST(Faults, LocalMemoryHasEnds) {
  expectFault(FaultKind::outOfBounds,
              ".local .align 8 .b8 l[16]; st.local.b64 [l+16], 1;",
              ".local .align 8 .b8 l[16]; st.local.b64 [l+8], 1;");
}

TEST(Faults, NullPointer) {
  expectFault(FaultKind::nullPointer,
              "mov.u64 %d1, 64; ld.global.b32 %r1, [%d1];",
              "mov.u64 %d1, 64; setp.eq.u64 %p1, %d1, 64;"
              "@!%p1 ld.global.b32 %r1, [%d1];");
}

TEST(Faults, Misaligned) {
  expectFault(FaultKind::misaligned, "st.global.b16 [%mine+1], 1;",
              "st.global.b16 [%mine+2], 1;");
  Trial trial;
  trial.block.x = 1;
  trial.outWords = 8;
  expectFault(FaultKind::misaligned,
              "mov.b32 %r1, 0; st.global.v2.b32 [%out+4], {%r1, %r1};",
              "mov.b32 %r1, 0; st.global.v2.b32 [%out+8], {%r1, %r1};", trial);
}

TEST(Faults, UninitialisedMemory) {
  expectFault(FaultKind::uninitialised, "ld.global.b32 %r1, [%mine];",
              "st.global.b32 [%mine], 1; ld.global.b32 %r1, [%mine];");
  expectFault(FaultKind::uninitialised,
              "st.global.b16 [%mine], 1; ld.global.b32 %r1, [%mine];",
              "st.global.b16 [%mine], 1; ld.global.b16 %h1, [%mine];");
  expectFault(FaultKind::uninitialised, "ld.shared.b32 %r1, [s];",
              "st.shared.b32 [s], 1; bar.sync 0; ld.shared.b32 %r1, [s];",
              sharedTrial(32));
}

TEST(Faults, UnwrittenSharedReadsAsNanIfAsked) {
  Trial trial = sharedTrial(32);
  trial.options.readUnwrittenShared = true;
  auto out =
      wordsOf("ld.shared.b32 %r1, [s+8]; st.global.b32 [%mine], %r1;", trial);
  EXPECT_EQ(out[5], 0xffffffffu);
}

TEST(Faults, UnwrittenRegister) {
  expectFault(FaultKind::unwrittenRegister,
              "add.u32 %r1, %r2, 1; st.global.b32 [%mine], %r1;",
              "mov.u32 %r2, 4; add.u32 %r1, %r2, 1;"
              "st.global.b32 [%mine], %r1;");
  // Written by some lanes only.
  expectFault(FaultKind::unwrittenRegister,
              "setp.lt.u32 %p1, %t, 31; @%p1 mov.u32 %r2, 4;"
              "st.global.b32 [%mine], %r2;",
              "setp.lt.u32 %p1, %t, 31; @%p1 mov.u32 %r2, 4;"
              "@%p1 st.global.b32 [%mine], %r2;");
  expectFault(FaultKind::unwrittenRegister,
              "@%p3 bra L; L:", "setp.lt.u32 %p3, %t, 31; @%p3 bra L; L:");
}

TEST(Faults, UnwrittenHalvesIfAsked) {
  Trial trial;
  std::string pack = "mov.u16 %h1, 3; mov.b32 %r1, {%h1, %h2};"
                     "and.b32 %r1, %r1, 65535; st.global.b32 [%mine], %r1;";
  EXPECT_EQ(faultOf(pack, trial), FaultKind::unwrittenRegister);
  trial.options.readUnwrittenHalves = true;
  EXPECT_EQ(wordsOf(pack, trial)[0], 3u);
  EXPECT_EQ(faultOf("add.u32 %r1, %r2, 1; st.global.b32 [%mine], %r1;", trial),
            FaultKind::unwrittenRegister);
}

TEST(Faults, ConstantMemoryIsNotWritten) {
  Trial trial;
  trial.module = ".global .align 4 .b32 g; .const .align 4 .b32 c = 5;";
  trial.block.x = 1;
  expectFault(FaultKind::readOnly,
              "mov.u64 %d1, c; cvta.const.u64 %d1, %d1; st.b32 [%d1], 1;",
              "mov.u64 %d1, g; cvta.global.u64 %d1, %d1; st.b32 [%d1], 1;",
              trial);
}

TEST(Faults, SharedRaces) {
  // A reduction without, and with, the barrier between store and load.
  std::string store = "mov.u32 %r1, s; mad.lo.u32 %r2, %t, 4, %r1;"
                      "st.shared.b32 [%r2], %t;";
  std::string load = "xor.b32 %r3, %t, 32; mad.lo.u32 %r3, %r3, 4, %r1;"
                     "ld.shared.b32 %r4, [%r3]; st.global.b32 [%mine], %r4;";
  Trial trial = sharedTrial();
  trial.options.readUnwrittenShared = true;
  expectFault(FaultKind::sharedRace, store + load, store + "bar.sync 0;" + load,
              trial);
  // A buffer that is filled again while others still read it.
  std::string again = "st.shared.b32 [%r2], %r4;";
  expectFault(FaultKind::sharedRace, store + "bar.sync 0;" + load + again,
              store + "bar.sync 0;" + load + "bar.sync 0;" + again, trial);
}

/// Rows of a warp of elements of some bytes, by all ways of loads and stores.
TEST(Faults, RacesOfRows) {
  struct Row {
    std::string bytes, type, values;
  };
  const Row rows[] = {{"2", "b16", "%h1"},
                      {"4", "b32", "%r4"},
                      {"8", "b64", "%d1"},
                      {"8", "v2.b32", "{%r4, %r5}"},
                      {"16", "v4.b32", "{%r4, %r5, %r6, %r7}"}};
  Trial trial = sharedTrial();
  trial.options.readUnwrittenShared = true;
  for (const Row &row : rows) {
    std::string at = "mov.u32 %r1, s; mad.lo.u32 %r2, %t, " + row.bytes +
                     ", %r1; mov.u16 %h1, 1; mov.u64 %d1, 1;"
                     "mov.u32 %r4, 1; mov.u32 %r5, 2; mov.u32 %r6, 3;"
                     "mov.u32 %r7, 4;";
    std::string store = "st.shared." + row.type + " [%r2], " + row.values + ";";
    std::string other =
        "xor.b32 %r3, %t, 32; mad.lo.u32 %r3, %r3, " + row.bytes + ", %r1;";
    std::string load = "ld.shared." + row.type + " " + row.values + ", [%r3];";
    std::string again = "st.shared." + row.type + " [%r3], " + row.values + ";";
    std::string bar = "bar.sync 0;";
    expectFault(FaultKind::sharedRace, at + store + other + load,
                at + store + other + bar + load, trial);
    expectFault(FaultKind::sharedRace, at + store + other + again,
                at + store + other + bar + again, trial);
    std::string read = at + store + other + bar + load;
    expectFault(FaultKind::sharedRace, read + store, read + bar + store, trial);
  }
}

/// A word that all lanes read, of which one wrote it or will write it.
TEST(Faults, RacesOfLanesThatReadOneWord) {
  // A variable's name and an address in a register go different ways.
  std::string load = "mov.u32 %r9, s; ld.shared.b32 %r1, [%r9];",
              bar = "bar.warp.sync -1;";
  for (std::string lane : {"0", "1", "2", "31"}) {
    std::string one = "setp.eq.u32 %p1, %t, " + lane + ";";
    std::string store = "@%p1 st.shared.b32 [s], 3;";
    expectFault(FaultKind::sharedRace, one + store + load,
                one + store + bar + load, sharedTrial(32));
    std::string read = one + store + bar + load;
    expectFault(FaultKind::sharedRace, read + store, read + bar + store,
                sharedTrial(32));
  }
}

/// The same in memory that blocks share; and rows that a warp reads.
TEST(Faults, RacesWithReadersOfOtherBlocks) {
  Trial trial;
  trial.grid.x = 2;
  trial.in.assign(64, 1);
  trial.outWords = 64;
  std::string word = "ld.global.b32 %r1, [%in]; setp.eq.u32 %p1, %i, 40;";
  expectFault(FaultKind::globalRace, word + "@%p1 st.global.b32 [%in], 3;",
              word + "@%p1 st.global.b32 [%out], 3;", trial);
  // The first block reads a row of all its lanes that the second one writes.
  auto row = [](const char *read) {
    return std::string("setp.lt.u32 %p1, %i, 32; @%p1 bra READ;"
                       "st.global.b32 [%arg], 2; bra END; READ:"
                       "mad.wide.u32 %d1, %t, 4, %in;"
                       "ld.global.b32 %r2, [%d1+") +
           read + "]; END:";
  };
  expectFault(FaultKind::globalRace, row("128"), row("0"), trial);
}

TEST(Faults, MisalignedRows) {
  auto row = [](const char *offset, const char *what) {
    return std::string("mov.u32 %r1, s; mad.lo.u32 %r2, %t, 4, %r1;"
                       "mov.b32 %r3, 1; st.shared.b32 [%r2], %r3;"
                       "st.shared.b32 [%r2+128], %r3;"
                       "bar.warp.sync -1; add.u32 %r2, %r2, ") +
           offset + ";" + what;
  };
  Trial trial = sharedTrial(32);
  trial.options.readUnwrittenShared = true;
  for (const char *what :
       {"ld.shared.b32 %r4, [%r2];", "st.shared.b32 [%r2], %r3;"})
    expectFault(FaultKind::misaligned, row("2", what), row("128", what), trial);
}

/// A thread keeps the memory of its last launch, but not what was in it.
TEST(Faults, LaunchesKnowNothingOfEachOther) {
  std::string at = "mov.u32 %r1, s; mad.lo.u32 %r2, %t, 4, %r1;"
                   "xor.b32 %r3, %t, 32; mad.lo.u32 %r3, %r3, 4, %r1;";
  std::string first = at + "st.shared.b32 [%r2], %t;";
  std::string second = at + "st.shared.b32 [%r3], %t;";
  std::string load = at + "ld.shared.b32 %r4, [%r2];";
  for (int round = 0; round < 3; ++round) {
    wordsOf(first, sharedTrial());
    wordsOf(second, sharedTrial());
    EXPECT_EQ(faultOf(load, sharedTrial()), FaultKind::uninitialised);
  }
  std::string local = ".local .align 4 .b8 l[16];";
  wordsOf(local + "st.local.b32 [l], 1; ld.local.b32 %r1, [l];");
  EXPECT_EQ(faultOf(local + "ld.local.b32 %r1, [l];"),
            FaultKind::uninitialised);
}

TEST(Faults, SharedRacesOfManyReaders) {
  std::string head = "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.b32 [s], 3;"
                     "bar.sync 0; ld.shared.b32 %r1, [s];";
  std::string tail = "setp.eq.u32 %p2, %t, 40; @%p2 st.shared.b32 [s], %r1;";
  expectFault(FaultKind::sharedRace, head + tail, head + "bar.sync 0;" + tail,
              sharedTrial(128));
}

TEST(Faults, RacesInsideAWarp) {
  std::string store = "mov.u32 %r1, s; mad.lo.u32 %r2, %t, 4, %r1;"
                      "st.shared.b32 [%r2], %t;";
  std::string load = "xor.b32 %r3, %t, 1; mad.lo.u32 %r3, %r3, 4, %r1;"
                     "ld.shared.b32 %r4, [%r3]; st.global.b32 [%mine], %r4;";
  expectFault(FaultKind::sharedRace, store + load,
              store + "bar.warp.sync -1;" + load, sharedTrial(32));
  Trial lax = sharedTrial(32);
  lax.options.racesInsideWarps = false;
  EXPECT_EQ(wordsOf(store + load, lax)[6], 7u);
  // One store of different values to one place, and of the same.
  expectFault(FaultKind::sharedRace, "st.shared.b32 [s], %t;",
              "st.shared.b32 [s], 1;", sharedTrial(32));
}

TEST(Faults, GlobalRaces) {
  Trial trial;
  trial.grid.x = 4;
  trial.outWords = 200;
  expectFault(FaultKind::globalRace, "st.global.b32 [%out], %i;",
              "st.global.b32 [%mine], %i;", trial);
  expectFault(FaultKind::globalRace,
              "st.global.b32 [%mine], %i; xor.b32 %r1, %i, 64;"
              "setp.lt.u32 %p1, %i, 64;"
              "mad.wide.u32 %d1, %r1, 4, %out; @!%p1 st.global.b32 [%d1], 1;",
              "st.global.b32 [%mine], %i; xor.b32 %r1, %i, 1;"
              "setp.lt.u32 %p1, %i, 64;"
              "mad.wide.u32 %d1, %r1, 4, %out; bar.warp.sync -1;"
              "@!%p1 st.global.b32 [%d1], 1;",
              trial);
}

TEST(Faults, AtomicsDoNotConflict) {
  Trial trial;
  trial.grid.x = 4;
  trial.block.x = 64;
  trial.outWords = 8;
  trial.module = ".shared .align 4 .b32 sum;";
  std::string head = "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.b32 [sum], 0;"
                     "bar.sync 0;";
  std::string add = "red.shared.add.u32 [sum], 1;";
  std::string tail = "bar.sync 0; ld.shared.b32 %r3, [sum];"
                     "mov.u32 %r4, %ctaid.x; mad.wide.u32 %d1, %r4, 4, %out;"
                     "@%p1 st.global.b32 [%d1], %r3;";
  EXPECT_EQ(wordsOf(head + add + tail, trial)[2], 64u);
  expectFault(FaultKind::sharedRace,
              head + "ld.shared.b32 %r1, [sum]; add.u32 %r1, %r1, 1;"
                     "st.shared.b32 [sum], %r1;",
              head + add, trial);
}

TEST(Faults, DivergentBarrier) {
  expectFault(FaultKind::divergentBarrier,
              "setp.lt.u32 %p1, %t, 7; @%p1 bra L; bar.sync 0; bra E;"
              "L: bar.sync 1; E:",
              "setp.lt.u32 %p1, %t, 7; @%p1 bra L; mov.u32 %r1, 1; bra E;"
              "L: mov.u32 %r1, 2; E: bar.sync 0;");
  expectFault(FaultKind::divergentBarrier,
              "setp.lt.u32 %p1, %t, 7; @%p1 ret; bar.sync 0;",
              "bar.sync 0; setp.lt.u32 %p1, %t, 7; @%p1 ret;");
}

TEST(Faults, EndedThreadsMayArriveIfAsked) {
  Trial trial = sharedTrial();
  trial.options.endedThreadsArrive = true;
  EXPECT_FALSE(
      runBody("setp.lt.u32 %p1, %t, 40; @%p1 ret; bar.sync 0;", trial).fault);
  EXPECT_EQ(
      faultOf("setp.lt.u32 %p1, %t, 32; @%p1 ret; bar.sync 0;", sharedTrial()),
      FaultKind::barrierMismatch);
}

TEST(Faults, BarrierMismatch) {
  expectFault(FaultKind::barrierMismatch,
              "setp.lt.u32 %p1, %t, 32; @%p1 bra L; bar.sync 1; bra E;"
              "L: bar.sync 2; E:",
              "setp.lt.u32 %p1, %t, 32; @%p1 bra L; bar.sync 1; bra E;"
              "L: bar.sync 1; E:",
              sharedTrial());
  expectFault(FaultKind::barrierMismatch, "bar.sync 1, 96;", "bar.sync 1, 64;",
              sharedTrial());
  expectFault(FaultKind::barrierMismatch, "mov.u32 %r1, 16; bar.sync %r1;",
              "mov.u32 %r1, 15; bar.sync %r1;", sharedTrial());
}

TEST(Faults, WarpsThatMissOthers) {
  expectFault(FaultKind::missingLanes,
              "setp.lt.u32 %p1, %t, 7; mov.u32 %r1, %t; @%p1 bra L;"
              "shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1; bra E;"
              "L: shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1; E:",
              "setp.lt.u32 %p1, %t, 7; mov.u32 %r1, %t; @%p1 bra L;"
              "mov.u32 %r1, 3; L: shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;");
  expectFault(FaultKind::memberMask,
              "mov.u32 %r1, %t; shfl.sync.bfly.b32 %r1, %r1, 1, 31, 0xffff;",
              "mov.u32 %r1, %t; setp.lt.u32 %p1, %t, 16;"
              "@%p1 shfl.sync.bfly.b32 %r1, %r1, 1, 31, 0xffff;");
  expectFault(FaultKind::laneSource,
              "mov.u32 %r1, %t; setp.lt.u32 %p1, %t, 16;"
              "@%p1 shfl.sync.idx.b32 %r1, %r1, 20, 31, 0xffff;",
              "mov.u32 %r1, %t; setp.lt.u32 %p1, %t, 16;"
              "@%p1 shfl.sync.idx.b32 %r1, %r1, 10, 31, 0xffff;");
}

TEST(Faults, Trap) {
  expectFault(FaultKind::trap, "setp.eq.u32 %p1, %t, 3; @%p1 trap;",
              "setp.eq.u32 %p1, %t, 33; @%p1 trap;");
}

TEST(Faults, Endless) {
  Trial trial;
  trial.options.instructionLimit = 10000;
  expectFault(FaultKind::endless, "L: bra L;",
              "mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1;"
              "setp.lt.u32 %p1, %r1, 100; @%p1 bra L;",
              trial);
}

TEST(Faults, CopiesAreWaitedFor) {
  std::string issue = "mov.u32 %r1, s; mad.lo.u32 %r1, %t, 4, %r1;"
                      "cp.async.ca.shared.global [%r1], [%arg], 4;"
                      "cp.async.commit_group;";
  std::string use = "ld.shared.b32 %r2, [%r1]; st.global.b32 [%mine], %r2;";
  expectFault(FaultKind::pendingCopy, issue + use,
              issue + "cp.async.wait_group 0;" + use, sharedTrial(32));
  expectFault(FaultKind::pendingCopy, issue + "cp.async.wait_group 1;" + use,
              issue + "cp.async.wait_all;" + use, sharedTrial(32));
  EXPECT_EQ(wordsOf(issue + "cp.async.wait_all;" + use, sharedTrial(32))[9],
            7u);
  std::string again = "st.shared.b32 [%r1], %t;";
  expectFault(FaultKind::pendingCopy, issue + again,
              issue + "cp.async.wait_all;" + again, sharedTrial(32));
  // What is copied must be there when a copy is asked for.
  auto copy = [](const char *from) {
    return std::string("mov.u32 %r1, s; mad.lo.u32 %r1, %t, 4, %r1;"
                       "cp.async.ca.shared.global [%r1], [") +
           from + "], 4; cp.async.commit_group;";
  };
  expectFault(FaultKind::uninitialised, copy("%mine"), copy("%arg"),
              sharedTrial(32));
}

TEST(Faults, LaunchShapes) {
  auto kindOf = [](Trial trial) { return faultOf("", trial); };
  Trial trial;
  trial.block = {32, 32, 2};
  EXPECT_EQ(kindOf(trial), FaultKind::launchShape);
  trial = {};
  trial.grid.x = 0;
  trial.outWords = 1;
  EXPECT_EQ(kindOf(trial), FaultKind::launchShape);
  trial = {};
  trial.dynamicShared = 228 * 1024;
  EXPECT_EQ(kindOf(trial), FaultKind::launchShape);
  trial = {};
  trial.head = ".reqntid 64, 1, 1\n";
  EXPECT_EQ(kindOf(trial), FaultKind::launchShape);
  trial.block.x = 64;
  EXPECT_FALSE(runBody("", trial).fault);
  trial.head = ".maxntid 63\n";
  EXPECT_EQ(kindOf(trial), FaultKind::launchShape);
}

TEST(Faults, ParametersAreCounted) {
  auto module = moduleOf(textAround(""));
  Memory memory;
  Arguments one;
  one.add(uint64_t(1));
  auto fault = launch(
      {*module, *module->find("k"), {1, 1, 1}, {32, 1, 1}, 0, one.bytes()},
      memory);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::launchParameters);
}

TEST(Faults, VariablesNeedPlaces) {
  Trial trial;
  trial.module = ".global .b32 g;";
  auto module = moduleOf(textAround("st.global.b32 [g], 1;", trial));
  Memory memory;
  Arguments two;
  two.add(uint64_t(1)).add(uint64_t(1));
  Launch what{*module, *module->find("k"), {1, 1, 1}, {1, 1, 1},
              0,       two.bytes()};
  auto fault = launch(what, memory);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::launchParameters);
  Globals globals(*module, memory);
  what.globals = &globals;
  EXPECT_FALSE(launch(what, memory));
}

// Accesses of a warp that follow each other are checked all at once; of these,
// too, each lane counts.
TEST(Faults, OneLaneOfARow) {
  Trial trial;
  trial.block.x = 64;
  trial.outWords = 64;
  std::string twice = "ld.global.b32 %r1, [%mine]; st.global.b32 [%mine], %r1;"
                      "ld.global.b32 %r1, [%mine];";
  std::string store = "setp.ne.u32 %p1, %t, 45; st.global.b32 [%mine], %t;";
  auto fault = runBody("setp.ne.u32 %p1, %t, 45;"
                       "@%p1 st.global.b32 [%mine], %t;" +
                           twice,
                       trial)
                   .fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::uninitialised);
  EXPECT_EQ(fault->thread.x, 45u);
  EXPECT_EQ(wordsOf(store + twice, trial)[45], 45u);
  // The other warp's row, one word further.
  trial.in.assign(64, 1);
  trial.options.racesInsideWarps = false;
  std::string own = "st.global.b32 [%arg], %t;";
  std::string next = "add.u32 %r2, %t, 1; and.b32 %r2, %r2, 63;"
                     "mad.wide.u32 %d1, %r2, 4, %in; ld.global.b32 %r3, [%d1];";
  expectFault(FaultKind::globalRace, own + next, own + "bar.sync 0;" + next,
              trial);
}

TEST(Faults, TellWhereAndWhat) {
  Trial trial;
  trial.block.x = 64;
  trial.in.assign(64, 0);
  trial.grid.x = 1;
  auto fault = runBody("setp.eq.u32 %p1, %t, 37;\n"
                       "@%p1 ld.global.b32 %r1, [%in+256];",
                       trial)
                   .fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->lane, 5);
  EXPECT_EQ(fault->thread.x, 37u);
  EXPECT_EQ(fault->text, "@%p1 ld.global.b32 %r1, [%in+256];");
  EXPECT_NE(describe(*fault).find("byte 256 of 'in', which has 256"),
            std::string::npos)
      << describe(*fault);
}

} // namespace
} // namespace mtc::ptx
