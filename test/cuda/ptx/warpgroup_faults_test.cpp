//===- warpgroup_faults_test.cpp - planted faults of wgmma, and twins -----===//
#include "test/cuda/ptx/harness.h"

#include <fmt/format.h>

namespace mtc::ptx {
namespace {

/// A of 64 rows at the start of shared memory and B of 8 (and 8 more) columns
/// behind it, both of 64 K, K-major and with a swizzle of 128 bytes.
constexpr uint64_t kTile =
    uint64_t(1) << 62 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 16;
constexpr uint64_t kLeft = kTile | 1024 >> 4, kRight = kTile | 9216 >> 4;
constexpr uint32_t kTileBytes = 8192 + 2048;

std::string product(const std::string &left = std::to_string(kLeft),
                    const std::string &right = std::to_string(kRight),
                    const std::string &scale = "1",
                    const std::string &sums = "{%f0, %f1, %f2, %f3}",
                    int columns = 8) {
  return fmt::format("wgmma.mma_async.sync.aligned.m64n{}k16.f32.bf16.bf16 {}, "
                     "{}, {}, {}, 1, 1, {}0;\n",
                     columns, sums, left, right, scale,
                     left[0] == '{' ? "" : "0, ");
}

const std::string kWait = "wgmma.wait_group.sync.aligned 0;\n";
const std::string kFence = "wgmma.fence.sync.aligned;\n";
const std::string kCommit = "wgmma.commit_group.sync.aligned;\n";
const std::string kProxy = "fence.proxy.async.shared::cta;\n";
const std::string kBarrier = "bar.sync 0;\n";
const std::string kUse = "st.global.f32 [%mine], %f0;\n";

/// Every thread writes words t, t + 128, ... of both tiles.
const std::string kFill =
    "mov.u32 %r1, open; mad.lo.u32 %r1, %t, 4, %r1; mov.u32 %r2, 0;\n"
    "L: st.shared.b32 [%r1], 0; add.u32 %r1, %r1, 512;\n"
    "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 20; @%p1 bra L;\n";
const std::string kSums = "mov.f32 %f0, 0f3F800000; mov.f32 %f1, %f0;\n"
                          "mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n";
const std::string kSetUp = kFill + kProxy + kBarrier + kSums;
const std::string kEnd = kCommit + kWait + kUse;

Trial trialOf(uint32_t threads = 128) {
  Trial trial;
  trial.target = "sm_90a";
  trial.module = ".extern .shared .align 1024 .b8 open[];";
  trial.block.x = threads;
  trial.dynamicShared = kTileBytes;
  trial.in.assign(threads * 20, 0);
  return trial;
}

void expectProductFault(FaultKind kind, const std::string &wrong,
                        const std::string &right) {
  expectFault(kind, wrong, right, trialOf());
}

/// A tile is written beside a product of another warp; which of both comes
/// first, and so what it is, is a matter of the seed.
void expectConflict(const std::string &wrong, const std::string &right) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Trial trial = trialOf();
    trial.options.seed = seed;
    auto fault = runBody(wrong, trial).fault;
    ASSERT_TRUE(fault) << wrong;
    EXPECT_TRUE(fault->kind == FaultKind::sharedRace ||
                fault->kind == FaultKind::pendingProduct)
        << describe(*fault);
    auto twin = runBody(right, trial).fault;
    EXPECT_FALSE(twin) << (twin ? describe(*twin) : "");
  }
}

const std::string kGood = kSetUp + kFence + product() + kEnd;

TEST(WarpgroupFaults, SumsBeforeTheWait) {
  std::string start = kSetUp + kFence + product();
  for (const char *touch :
       {"st.global.f32 [%mine], %f0;\n", "mov.f32 %f3, 0f00000000;\n",
        "mov.b32 %r5, %f2;\n", "@%p2 mov.f32 %f3, %f5;\n"}) {
    std::string head = "setp.eq.u32 %p2, %t, 77; mov.f32 %f5, 0f00000000;\n";
    expectProductFault(FaultKind::pendingProduct,
                       head + start + kCommit + touch + kWait,
                       head + start + kCommit + kWait + touch);
  }
  // Of two groups one is waited for; or no commit came before.
  std::string second = product(std::to_string(kLeft), std::to_string(kRight),
                               "0", "{%f10, %f11, %f12, %f13}");
  std::string two = start + kCommit + second + kCommit;
  std::string one = "wgmma.wait_group.sync.aligned 1;\n";
  std::string other = "st.global.f32 [%mine], %f10;\n";
  expectProductFault(FaultKind::pendingProduct, two + one + other,
                     two + one + kUse);
  expectProductFault(FaultKind::pendingProduct, start + kWait + kUse,
                     start + kCommit + kWait + kUse);
}

TEST(WarpgroupFaults, LeftFactorBeforeTheWait) {
  std::string head = kSetUp +
                     "mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0;"
                     "mov.u32 %r7, 0;\n" +
                     kFence + product("{%r4, %r5, %r6, %r7}") + kCommit;
  std::string write = "mov.u32 %r6, 1;\n";
  expectProductFault(FaultKind::pendingProduct, head + write + kWait,
                     head + kWait + write);
  // Two products may look at one A; none may put sums into it.
  std::string again = product("{%r4, %r5, %r6, %r7}");
  std::string into = product(std::to_string(kLeft), std::to_string(kRight), "0",
                             "{%r4, %r5, %r6, %r7}");
  expectProductFault(FaultKind::pendingProduct, head + into, head + again);
}

TEST(WarpgroupFaults, ShapesThatFollow) {
  std::string sums = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}";
  std::string wide =
      product(std::to_string(kLeft), std::to_string(kRight), "0", sums, 16);
  std::string start = kSetUp + kFence + product();
  expectProductFault(FaultKind::pendingProduct, start + wide + kEnd,
                     start + product() + kEnd);
  expectProductFault(FaultKind::missingFence,
                     start + kCommit + kWait + wide + kEnd,
                     start + kCommit + kWait + kFence + wide + kEnd);
  std::string turned = product(std::to_string(kLeft), std::to_string(kRight),
                               "1", "{%f1, %f0, %f2, %f3}");
  expectProductFault(FaultKind::pendingProduct, start + turned + kEnd,
                     start + kCommit + kWait + kFence + turned + kEnd);
}

TEST(WarpgroupFaults, FencesOfRegisters) {
  expectProductFault(FaultKind::missingFence, kSetUp + product() + kEnd, kGood);
  std::string unwritten = kFill + kProxy + kBarrier;
  std::string plain =
      product(std::to_string(kLeft), std::to_string(kRight), "0");
  expectProductFault(FaultKind::missingFence, unwritten + plain + kEnd,
                     unwritten + kFence + plain + kEnd);
  std::string write = "mov.f32 %f1, 0f00000000;\n";
  expectProductFault(FaultKind::missingFence,
                     kSetUp + kFence + write + product() + kEnd,
                     kSetUp + write + kFence + product() + kEnd);
  // To read what the next product writes is a touch, too.
  std::string twice = kGood + "%x" + product() + kEnd;
  auto with = [&](const std::string &what) {
    std::string text = twice;
    return text.replace(text.find("%x"), 2, what);
  };
  expectProductFault(FaultKind::missingFence, with(""), with(kFence));
  std::string a = kSetUp + "mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0;";
  std::string last = "mov.u32 %r7, 0;\n";
  std::string registers = product("{%r4, %r5, %r6, %r7}") + kEnd;
  expectProductFault(FaultKind::missingFence, a + kFence + last + registers,
                     a + last + kFence + registers);
}

TEST(WarpgroupFaults, UnwrittenRegisters) {
  std::string start = kFill + kProxy + kBarrier + kFence;
  auto scaled = [](const char *scale) {
    return product(std::to_string(kLeft), std::to_string(kRight), scale);
  };
  expectProductFault(FaultKind::unwrittenRegister, start + scaled("1") + kEnd,
                     start + scaled("0") + kEnd);
  std::string predicate = "setp.eq.u32 %p2, %n, 0;\n";
  expectProductFault(FaultKind::unwrittenRegister,
                     predicate + start + scaled("!%p2") + kEnd,
                     predicate + start + scaled("%p2") + kEnd);
  std::string sums = kSums + start;
  std::string a = "mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0;\n";
  std::string left = product("{%r4, %r5, %r6, %r7}") + kEnd;
  expectProductFault(FaultKind::unwrittenRegister, a + sums + left,
                     a + "mov.u32 %r7, 0;\n" + sums + left);
}

TEST(WarpgroupFaults, TilesOfAnotherProxy) {
  std::string rest = kSums + kFence + product() + kEnd;
  for (const std::string &wrong :
       {kFill + kBarrier, kProxy + kFill + kBarrier,
        kFill + kBarrier + kProxy + kFence, // known to no other thread
        kFill + "fence.proxy.async.global;\n" + kBarrier,
        kFill + "setp.ne.u32 %p2, %t, 5; @%p2 fence.proxy.async;\n" + kBarrier})
    expectProductFault(FaultKind::missingFence, wrong + rest,
                       kFill + "fence.proxy.async;\n" + kBarrier + rest);
  // What is fenced stays so, whatever the writer fences later.
  expectProductFault(FaultKind::missingFence,
                     kFill + kBarrier + kProxy + kProxy + rest,
                     kFill + kProxy + kBarrier + kProxy + kProxy + rest);
  std::string ordered = kFill + kProxy + kBarrier, again = ordered + kFill;
  again.replace(again.rfind("L:"), 2, "M:");
  again.replace(again.rfind("bra L"), 5, "bra M");
  expectConflict(again + kProxy + rest, again + kProxy + kBarrier + rest);
}

TEST(WarpgroupFaults, FencesOfAProxyOrderNoLanes) {
  std::string store = "mov.u32 %r1, open; mad.lo.u32 %r2, %t, 4, %r1;"
                      "st.shared.b32 [%r2], %t;\n" +
                      kProxy;
  std::string load = "xor.b32 %r3, %t, 1; mad.lo.u32 %r3, %r3, 4, %r1;"
                     "ld.shared.b32 %r4, [%r3]; st.global.b32 [%mine], %r4;";
  expectProductFault(FaultKind::sharedRace, store + load,
                     store + "bar.warp.sync -1;" + load);
  // Who read before the fence still did.
  std::string read =
      store + "bar.warp.sync -1; ld.shared.b32 %r4, [%r2];\n" + kProxy;
  std::string write = "xor.b32 %r3, %t, 1; mad.lo.u32 %r3, %r3, 4, %r1;"
                      "st.shared.b32 [%r3], 1;";
  expectProductFault(FaultKind::sharedRace, read + write,
                     read + "bar.warp.sync -1;" + write);
}

TEST(WarpgroupFaults, TilesOfCopies) {
  std::string copy =
      "mov.u32 %r1, open; mad.lo.u32 %r1, %t, 16, %r1; mov.u32 %r2, 0;\n"
      "mad.wide.u32 %d1, %t, 16, %in;\n"
      "L: cp.async.cg.shared.global [%r1], [%d1], 16; add.u32 %r1, %r1, 2048;\n"
      "add.u64 %d1, %d1, 2048; add.u32 %r2, %r2, 1;\n"
      "setp.lt.u32 %p1, %r2, 5; @%p1 bra L; cp.async.commit_group;\n";
  std::string wait = "cp.async.wait_group 0;\n";
  std::string rest = kBarrier + kSums + kFence + product() + kEnd;
  expectProductFault(FaultKind::pendingCopy, copy + kProxy + rest,
                     copy + wait + kProxy + rest);
  expectProductFault(FaultKind::missingFence, copy + kProxy + wait + rest,
                     copy + wait + kProxy + rest);
}

TEST(WarpgroupFaults, UnwrittenTiles) {
  std::string less = kFill;
  less.replace(less.find("%r2, 20"), 7, "%r2, 17"); // B's rows 4 to 7 are open
  std::string rest = kProxy + kBarrier + kSums + kFence + product() + kEnd;
  expectProductFault(FaultKind::uninitialised, less + rest, kFill + rest);
}

TEST(WarpgroupFaults, TilesWrittenBeforeTheWait) {
  std::string start = kSetUp + kFence + product() + kCommit;
  // Byte 64 is none that this product reads, byte 0 of each row is.
  std::string hit = "st.shared.b16 [open+8192], 0;\n";
  std::string atomic =
      "mov.u32 %r5, 1; atom.shared.add.u32 %r6, [open], %r5;\n";
  std::string miss = "st.shared.b32 [open+8272], 0;\n"; // row 0, from K 40 on
  for (const std::string &write :
       {hit, atomic,
        std::string("mov.u32 %r5, open; "
                    "cp.async.cg.shared.global [%r5], [%in], 16;\n")}) {
    std::string one = "setp.ne.u32 %p2, %t, 0; @%p2 bra N;\n" + write + "N:\n";
    std::string after =
        "cp.async.wait_all; mov.u32 %r7, 0;\n"; // a copy ends at a wait
    expectProductFault(FaultKind::pendingProduct, start + one + kWait + after,
                       start + kWait + kBarrier + one + after);
  }
  std::string only = "setp.eq.u32 %p2, %t, 0; @%p2 ";
  expectProductFault(FaultKind::pendingProduct, start + only + hit + kWait,
                     start + only + miss + kWait);
  // Another warp, and no barrier that the waits come before.
  expectConflict(start + kWait + only + hit,
                 start + kWait + kBarrier + only + hit);
  // A tile that a later group reads too stays taken.
  std::string second =
      product(std::to_string(kLeft + 2), std::to_string(kRight), "0",
              "{%f10, %f11, %f12, %f13}");
  std::string first = "wgmma.wait_group.sync.aligned 1;\n";
  expectProductFault(FaultKind::pendingProduct,
                     start + second + kCommit + first + kBarrier + only + hit +
                         kWait,
                     start + second + kCommit + first + kBarrier + kWait +
                         kBarrier + only + hit);
}

TEST(WarpgroupFaults, TilesMayBeReadBeforeTheWait) {
  auto fault = runBody(kSetUp + kFence + product() + kCommit +
                           "ld.shared.b32 %r5, [open+8192];\n" + kWait + kUse,
                       trialOf())
                   .fault;
  EXPECT_FALSE(fault);
}

TEST(WarpgroupFaults, WarpsThatDiffer) {
  std::string lane = "setp.eq.u32 %p2, %t, 37;\n";
  std::string warp = "setp.lt.u32 %p2, %t, 32;\n";
  std::string descriptor =
      fmt::format("mov.u64 %d1, {}; @%p2 mov.u64 %d1, {};\n", kLeft, kLeft + 2);
  std::string rest =
      kSetUp + kFence + product("%d1", std::to_string(kRight)) + kEnd;
  std::string none = "setp.gt.u32 %p2, %t, 200;\n";
  for (const std::string &who : {lane, warp})
    expectProductFault(FaultKind::warpgroupMismatch, who + descriptor + rest,
                       none + descriptor + rest);
  std::string scale =
      kSetUp + kFence +
      product(std::to_string(kLeft), std::to_string(kRight), "%p2") + kEnd;
  for (const std::string &who : {lane, warp})
    expectProductFault(FaultKind::warpgroupMismatch, who + scale, none + scale);
  // The same product at two lines.
  expectProductFault(FaultKind::warpgroupMismatch,
                     warp + kSetUp + kFence + "@%p2 bra A;\n" + product() +
                         "bra E; A:\n" + product() + "E:\n" + kEnd,
                     warp + kSetUp + kFence + "@%p2 bra A;\nA:\n" + product() +
                         "E:\n" + kEnd);
}

TEST(WarpgroupFaults, WarpsThatDoNotCome) {
  std::string start = kSetUp + kFence;
  std::string rest = product() + kEnd + "E:\n";
  expectProductFault(FaultKind::missingLanes,
                     start + "setp.ge.u32 %p2, %t, 96; @%p2 bra E;\n" + rest,
                     start + "setp.ge.u32 %p2, %t, 128; @%p2 bra E;\n" + rest);
  expectProductFault(FaultKind::missingLanes,
                     start + "setp.eq.u32 %p2, %t, 9; @%p2 bra E;\n" + rest,
                     start + "setp.eq.u32 %p2, %t, 128; @%p2 bra E;\n" + rest);
  Trial small = trialOf(96);
  std::string words = kGood;
  words.replace(words.find("%r2, 20"), 7, "%r2, 18");
  EXPECT_EQ(faultOf(words, small), FaultKind::missingLanes);
}

TEST(WarpgroupFaults, Descriptors) {
  auto with = [](uint64_t left, uint64_t right) {
    return kSetUp + kFence +
           product(std::to_string(left), std::to_string(right)) + kEnd;
  };
  auto expectBad = [&](FaultKind kind, uint64_t left, uint64_t right) {
    expectProductFault(kind, with(left, right), kGood);
  };
  constexpr FaultKind kBad = FaultKind::matrixDescriptor;
  expectBad(kBad, kLeft | uint64_t(1) << 49, kRight); // a base offset
  expectBad(kBad, kLeft, kRight | uint64_t(1) << 14); // nothing
  expectBad(kBad, kLeft, kRight | uint64_t(1) << 55);
  expectBad(kBad, kLeft + 8, kRight);                   // row 1 of a pattern
  expectBad(kBad, kLeft + 7, kRight);                   // half in the next row
  expectBad(kBad, kLeft + (uint64_t(8) << 32), kRight); // no whole pattern
  expectBad(FaultKind::outOfBounds, kLeft, kRight + (2048 >> 4));
  expectBad(FaultKind::outOfBounds, kLeft - (1024 >> 4), kRight);
  EXPECT_FALSE(runBody(with(kLeft + 2, kRight + 4), trialOf()).fault);
}

TEST(WarpgroupFaults, TellWhereAndWhat) {
  auto fault = runBody(kSetUp + kFence + product() + kCommit +
                           "setp.eq.u32 %p2, %t, 37;\n"
                           "@%p2 st.global.f32 [%mine], %f0;\n",
                       trialOf())
                   .fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->thread.x, 37u);
  EXPECT_EQ(fault->text, "@%p2 st.global.f32 [%mine], %f0;");
  EXPECT_NE(describe(*fault).find("%f0 is touched here, and the wgmma at line"),
            std::string::npos)
      << describe(*fault);
}

} // namespace
} // namespace mtc::ptx
