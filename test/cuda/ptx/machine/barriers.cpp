//===- barriers.cpp - where warps of a block wait for each other ----------===//
#include "test/cuda/ptx/machine/barriers.h"

#include <fmt/format.h>

namespace mtc::ptx {
namespace {

/// Threads that a barrier of the whole block waits for: warps count as whole.
uint32_t everybody(const Block &block) {
  uint32_t warps = 0;
  for (const Warp &each : block.warps)
    warps += !block.options.endedThreadsArrive || each.live != 0;
  return warps * kLanes;
}

/// What bar.red tells each of the warps that waited.
void tellResult(Warp &warp, const Instruction &by, const Barrier &barrier) {
  warp.active = warp.live;
  if (by.variant)
    return warp.setMask(by.to[0], (by.variant == 1 ? barrier.all : barrier.any)
                                      ? kAllLanes
                                      : 0);
  forLanes(warp.live,
           [&](int l) { warp.slots<uint32_t>(by.to[0])[l] = barrier.count; });
}

void release(Block &block, Barrier &barrier) {
  for (Warp *each : barrier.waiting) {
    if (each->at->toCount)
      tellResult(*each, *each->at, barrier);
    each->at = nullptr;
    each->waits = false;
    each->clock.join(barrier.clock);
    each->clock.barriers += barrier.whole;
    each->clock.passedPart = !barrier.whole;
    each->passTime();
  }
  barrier = {};
  ++block.counts.barriers;
}

bool isComplete(const Block &block, const Barrier &barrier) {
  return barrier.by && barrier.arrived >= (barrier.whole ? everybody(block)
                                                         : barrier.expected);
}

} // namespace

bool arrive(Warp &warp, const Instruction &by, uint32_t id, uint32_t expected,
            bool waits) {
  Block &block = *warp.block;
  Barrier &barrier = block.barriers[id];
  if (warp.live != warp.born && !block.options.endedThreadsArrive)
    return warp.fail(
        FaultKind::divergentBarrier, by,
        fmt::format("lanes {:08x} of warp {} have ended and do not "
                    "come to barrier {}",
                    warp.born & ~warp.live, warp.index, id));
  if (expected % kLanes)
    return warp.fail(FaultKind::barrierMismatch, by,
                     fmt::format("barrier {} is for {} threads, which are no "
                                 "whole warps",
                                 id, expected));
  if (barrier.by && barrier.expected != expected)
    return warp.fail(FaultKind::barrierMismatch, by,
                     fmt::format("barrier {} is for {} threads here and for {} "
                                 "at line {} (0: all)",
                                 id, expected, barrier.expected,
                                 barrier.by->line));
  if (!barrier.by) {
    barrier.by = &by;
    barrier.expected = expected;
    barrier.whole = expected == 0;
  }
  barrier.clock.join(warp.clock);
  barrier.arrived += kLanes;
  if (waits) {
    warp.waits = true;
    warp.at = &by;
    barrier.waiting.push_back(&warp);
  } else {
    warp.passTime(); // what it does later, waiters do not know of
  }
  if (isComplete(block, barrier))
    release(block, barrier);
  return true;
}

void completeWithoutEnded(Block &block) {
  for (Barrier &each : block.barriers)
    if (isComplete(block, each))
      release(block, each);
}

void tellDeadlock(Block &block) {
  std::string where;
  Warp *first = nullptr;
  const Instruction *by = nullptr;
  for (size_t id = 0; id < block.barriers.size(); ++id) {
    const Barrier &barrier = block.barriers[id];
    if (barrier.waiting.empty())
      continue;
    first = first ? first : barrier.waiting[0];
    by = by ? by : barrier.by;
    where += fmt::format("{}{} threads of {} are at barrier {} (line {})",
                         where.empty() ? "" : ", ", barrier.arrived,
                         barrier.whole ? everybody(block) : barrier.expected,
                         id, barrier.by->line);
  }
  uint32_t ended = 0;
  for (const Warp &each : block.warps)
    ended += each.live == 0;
  if (ended)
    where += fmt::format(", {} warps have ended", ended);
  first->fail(FaultKind::barrierMismatch, *by, where);
}

} // namespace mtc::ptx
