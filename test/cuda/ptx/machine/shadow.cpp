//===- shadow.cpp - who touched a place last ------------------------------===//
#include "test/cuda/ptx/machine/shadow.h"

namespace mtc::ptx {

Conflict conflictOf(Tag old, const Toucher &now, bool atomic) {
  if (old.bits == 0)
    return Conflict::none;
  if (old.operation() != now.tag.operation())
    return Conflict::operation;
  if (atomic && old.atomic())
    return Conflict::none;
  if (old.crowd() == Crowd::blocks || old.block() != now.tag.block())
    return Conflict::block;
  const WarpClock &clock = *now.clock;
  if (old.crowd() == Crowd::warps) {
    bool since = old.time() != (clock.barriers & 0x7fff) || clock.passedPart;
    return since ? Conflict::none : Conflict::warp;
  }
  if (old.warp() != now.tag.warp())
    return old.time() <= clock.times[old.warp()] ? Conflict::none
                                                 : Conflict::warp;
  bool otherLane = old.crowd() == Crowd::lanes || old.lane() != now.tag.lane();
  return now.lanesConflict && otherLane && now.lanesRun(old.time())
             ? Conflict::lane
             : Conflict::none;
}

Tag together(Tag old, const Toucher &now) {
  const WarpClock &clock = *now.clock;
  if (old.bits == 0 || old.operation() != now.tag.operation())
    return now.tag;
  if (old.crowd() == Crowd::blocks)
    return old;
  if (old.block() != now.tag.block())
    return now.tag.of(Crowd::blocks);
  if (old.crowd() == Crowd::warps)
    return old.time() == (clock.barriers & 0x7fff) ? old : now.tag;
  if (old.warp() != now.tag.warp())
    return old.time() <= clock.times[old.warp()]
               ? now.tag
               : now.tag.of(Crowd::warps).at(clock.barriers);
  if (old.crowd() == Crowd::lanes || old.lane() != now.tag.lane())
    return now.lanesRun(old.time())
               ? Tag{now.tag.bits & ~uint64_t(31)}.of(Crowd::lanes)
               : now.tag;
  return now.tag;
}

} // namespace mtc::ptx
