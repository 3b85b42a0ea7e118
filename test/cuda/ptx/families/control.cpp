//===- control.cpp - branches, ends, barriers and fences ------------------===//
#include "test/cuda/ptx/families/families.h"
#include "test/cuda/ptx/families/warpgroup.h"
#include "test/cuda/ptx/machine/barriers.h"

#include <fmt/format.h>

namespace mtc::ptx {
namespace {

bool nothing(Warp &, const Instruction &) { return true; }

bool trap(Warp &warp, const Instruction &i) {
  return warp.fail(FaultKind::trap, i, "the program stops itself",
                   __builtin_ctz(warp.active));
}

/// A number that is the same for all lanes of a warp.
bool uniform(Warp &warp, const Instruction &i, unsigned operand,
             uint32_t &value) {
  uint32_t *slots = warp.slots<uint32_t>(i.from[operand]);
  value = slots[__builtin_ctz(warp.active)];
  return allLanes(warp.active, [&](int l) {
    return slots[l] == value ||
           warp.fail(FaultKind::barrierMismatch, i,
                     "lanes of one warp name different barriers or counts", l);
  });
}

bool barrier(Warp &warp, const Instruction &i) {
  uint32_t id = 0, count = 0;
  if (!uniform(warp, i, 0, id) ||
      (i.fromCount > 1 && !uniform(warp, i, 1, count)))
    return false;
  if (id >= 16)
    return warp.fail(FaultKind::barrierMismatch, i,
                     fmt::format("a block has barriers 0 to 15, not {}", id));
  if (i.fromCount > 1 && count == 0)
    return warp.fail(FaultKind::barrierMismatch, i, "a barrier of no threads");
  return arrive(warp, i, id, count, !i.flag);
}

/// bar.red: which of popc, and, or is in variant.
bool reducing(Warp &warp, const Instruction &i) {
  uint32_t id = 0, count = 0;
  bool counted = i.fromCount > 2;
  if (!uniform(warp, i, 0, id) || (counted && !uniform(warp, i, 1, count)))
    return false;
  if (id >= 16)
    return warp.fail(FaultKind::barrierMismatch, i,
                     fmt::format("a block has barriers 0 to 15, not {}", id));
  uint32_t mask = warp.mask(i.from[counted ? 2 : 1]) ^ (i.flag ? ~0u : 0);
  Barrier &barrier = warp.block->barriers[id];
  barrier.count += uint32_t(__builtin_popcount(mask & warp.active));
  barrier.all &= (mask & warp.active) == warp.active;
  barrier.any |= (mask & warp.active) != 0;
  return arrive(warp, i, id, count, true);
}

/// Numbers that the text has are checked with it.
void checkNumbers(Builder &b) {
  const auto &operands = b.statement().operands;
  auto isNumber = [&](size_t k) {
    return k < operands.size() && operands[k].kind == Operand::Kind::integer;
  };
  if (isNumber(0) && operands[0].bits >= 16)
    b.problem(fmt::format("a block has barriers 0 to 15, not {}",
                          int64_t(operands[0].bits)));
  if (isNumber(1) && (operands[1].bits % kLanes || operands[1].bits == 0))
    b.problem(fmt::format("{} threads are no whole warps",
                          int64_t(operands[1].bits)));
}

/// What bar.sync and barrier.sync, arrive and red have in common.
void barrierOf(Builder &b, bool aligned) {
  size_t what = b.expectOneOf({"sync", "arrive", "red"});
  if (!aligned)
    b.take("aligned");
  b.out.flow = Flow::barrier;
  b.out.gather = Gather::liveLanes;
  b.out.run = barrier;
  if (what == 2) {
    b.out.variant = uint8_t(b.expectOneOf({"popc", "and", "or"}));
    if (!aligned)
      b.take("aligned");
    bool counts = b.out.variant == 0;
    b.expectType({counts ? Type::u32 : Type::pred});
    b.out.run = reducing;
    b.endModifiers();
    b.to(counts ? Type::u32 : Type::pred);
    b.from(Type::u32);
    if (b.operandsLeft() > 1)
      b.from(Type::u32);
    b.fromPredicate();
    return b.endOperands();
  }
  b.endModifiers();
  b.from(Type::u32);
  if (b.operandsLeft())
    b.from(Type::u32);
  b.endOperands();
  checkNumbers(b);
  if (what == 1 && b.out.fromCount < 2)
    b.problem("bar.arrive: expected the number of threads");
  b.out.flag = what == 1;
}

bool warpBarrier(Warp &warp, const Instruction &) {
  warp.passTime();
  return true;
}

void warpSync(Builder &b) {
  if (!b.take("sync"))
    b.expectOneOf({"sync"});
  b.endModifiers();
  b.members();
  b.endOperands();
  b.out.gather = Gather::apart;
  b.out.run = warpBarrier;
}

/// Only wgmma reads by another proxy here, and shared memory.
void proxyFence(Builder &b) {
  if (b.expectOneOf({"async"}))
    return;
  b.needs(90, 80);
  bool elsewhere = b.take("global");
  if (!elsewhere)
    b.takeOneOf({"shared::cta", "shared::cluster"});
  b.endModifiers();
  b.endOperands();
  b.out.run = elsewhere ? nothing : fenceProxy;
}

} // namespace

void decodeBra(Builder &b) {
  b.take("uni");
  b.endModifiers();
  const Operand *to = b.nextOperand();
  if (to && to->kind != Operand::Kind::label)
    b.problem(fmt::format("bra: '{}' is no label", to->name));
  b.endOperands();
  b.out.flow = Flow::branch;
  b.out.target = to ? to->index : 0;
  b.out.run = nothing;
}

void decodeBrx(Builder &b) {
  b.expectOneOf({"idx"});
  b.take("uni");
  b.endModifiers();
  b.from(Type::u32);
  const Operand *to = b.nextOperand();
  if (to && to->kind != Operand::Kind::targets)
    b.problem(fmt::format("brx: '{}' is no list of labels", to->name));
  b.endOperands();
  b.out.flow = Flow::table;
  b.out.target = to ? to->index : 0;
  b.out.run = nothing;
}

void decodeRet(Builder &b) {
  b.take("uni");
  decodeExit(b);
}

void decodeExit(Builder &b) {
  b.endModifiers();
  b.endOperands();
  b.out.flow = Flow::end;
  b.out.run = nothing;
}

void decodeTrap(Builder &b) {
  b.endModifiers();
  b.endOperands();
  b.out.run = trap;
}

void decodeCall(Builder &b) {
  b.problem("call: functions are not executed here; have them inlined");
}

void decodeBar(Builder &b) {
  if (b.take("warp"))
    return warpSync(b);
  b.take("cta");
  barrierOf(b, true);
}

void decodeBarrier(Builder &b) {
  if (b.comes("cluster"))
    return b.problem("barrier: clusters are not known here");
  b.take("cta");
  barrierOf(b, false);
}

// Blocks run one after the other and warps in turns, so that all of memory is
// seen by all at once: a fence has nothing to do.
void decodeFence(Builder &b) {
  if (b.take("proxy"))
    return proxyFence(b);
  b.takeOneOf({"sc", "acq_rel"});
  b.expectOneOf({"cta", "cluster", "gpu", "sys"});
  b.endModifiers();
  b.endOperands();
  b.out.run = nothing;
}

void decodeMembar(Builder &b) {
  b.expectOneOf({"cta", "gl", "sys"});
  b.endModifiers();
  b.endOperands();
  b.out.run = nothing;
}

void decodeNanosleep(Builder &b) {
  b.expectType({Type::u32});
  b.endModifiers();
  b.from(Type::u32);
  b.endOperands();
  b.out.run = nothing;
}

} // namespace mtc::ptx
