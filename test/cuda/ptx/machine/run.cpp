//===- run.cpp - which instruction of a warp comes next -------------------===//
//
// Lanes that branch apart are groups, each at its place. The group at the
// lowest place runs: compilers put the place where branches meet behind them,
// so groups meet again there. A group that must be joined by other lanes parks
// until they come; where nobody is left that could come, that is a fault.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/machine/run.h"

#include "test/cuda/ptx/machine/observer.h"
#include "test/cuda/ptx/machine/registers.h"

#include <fmt/format.h>

namespace mtc::ptx {
namespace {

class Runner {
public:
  explicit Runner(Warp &warp)
      : warp_(warp), block_(*warp.block),
        code_(block_.code.instructions.data()),
        observer_(block_.options.observer) {}

  void run(uint64_t span) {
    for (; warp_.lanes && span && !block_.fault; --span) {
      if (!warp_.others.empty() && !choose())
        break;
      if (!step())
        break;
    }
    block_.counts.warpInstructions += instructions_;
    block_.counts.laneInstructions += laneInstructions_;
  }

private:
  /// False: the warp stops here.
  bool step() {
    const Instruction &i = code_[warp_.pc];
    if (i.straight && !observer_)
      return goStraight(i);
    if (i.tracked && !guardWritten(i))
      return false;
    uint32_t active = warp_.lanes;
    if (i.guarded)
      active &= i.guardNegated ? ~warp_.mask(i.guard) : warp_.mask(i.guard);
    if (i.gather != Gather::none && active && !gathered(i, active))
      return !block_.fault;
    ++instructions_;
    laneInstructions_ += uint64_t(__builtin_popcount(active));
    if (!observer_ || !active)
      return perform(i, active);
    uint32_t pc = warp_.pc;
    observer_->before(warp_, pc, active);
    bool goesOn = perform(i, active);
    observer_->after(warp_, pc, active);
    return goesOn;
  }

  bool goStraight(const Instruction &i) {
    ++instructions_;
    laneInstructions_ += uint64_t(__builtin_popcount(warp_.lanes));
    select(warp_.lanes);
    if (!i.run(warp_, i))
      return false;
    ++warp_.pc;
    return true;
  }

  bool perform(const Instruction &i, uint32_t active) {
    if (i.flow == Flow::plain) {
      if (active && !execute(i, active))
        return false;
      ++warp_.pc;
      return true;
    }
    return follow(i, active);
  }

  bool execute(const Instruction &i, uint32_t active) {
    select(active);
    if (i.watched && !touchWatched(warp_, i))
      return false;
    if (!i.tracked)
      return i.run(warp_, i);
    if (!readsWritten(i) || !i.run(warp_, i))
      return false;
    for (uint32_t each : block_.code.tracking[i.tracking].writes)
      warp_.mask(block_.code.tracked[each].mask) |= active;
    return true;
  }

  void select(uint32_t active) {
    if (active == warp_.active)
      return;
    warp_.active = active;
    if (active != kAllLanes)
      for (int l = 0; l < kLanes; ++l)
        warp_.selected[l] = active >> l & 1 ? ~0u : 0;
  }

  bool follow(const Instruction &i, uint32_t active) {
    switch (i.flow) {
    case Flow::branch:
      branch(i.target, active);
      return true;
    case Flow::table:
      return !active ? (++warp_.pc, true) : branchByTable(i, active);
    case Flow::end:
      end(active);
      return true;
    default: // a barrier
      ++warp_.pc;
      return !active || (execute(i, active) && !warp_.waits);
    }
  }

  void branch(uint32_t target, uint32_t active) {
    if (active == warp_.lanes) {
      warp_.pc = target;
      return;
    }
    if (active)
      warp_.others.push_back({target, active});
    warp_.lanes &= ~active;
    ++warp_.pc;
  }

  bool branchByTable(const Instruction &i, uint32_t active) {
    select(active);
    if ((i.watched && !touchWatched(warp_, i)) ||
        (i.tracked && !readsWritten(i)))
      return false;
    const auto &table = block_.code.tables[i.target];
    uint32_t *index = warp_.slots<uint32_t>(i.from[0]);
    bool good = allLanes(active, [&](int lane) {
      if (index[lane] < table.size()) {
        warp_.others.push_back({table[index[lane]], 1u << lane});
        return true;
      }
      return warp_.fail(
          FaultKind::outOfBounds, i,
          fmt::format("target {} of {}", index[lane], table.size()), lane);
    });
    warp_.lanes &= ~active;
    ++warp_.pc;
    if (!warp_.lanes)
      takeAnother();
    return good;
  }

  void end(uint32_t active) {
    warp_.live &= ~active;
    warp_.lanes &= ~active;
    if (!active) {
      ++warp_.pc;
      return;
    }
    // Who waited for these lanes need not wait any more.
    for (LaneGroup &each : warp_.others)
      each.parked = false;
    warp_.parked = false;
    if (warp_.lanes)
      ++warp_.pc;
    else if (!warp_.others.empty())
      takeAnother();
  }

  void takeAnother() {
    LaneGroup group = warp_.others.back();
    warp_.others.pop_back();
    warp_.pc = group.pc;
    warp_.lanes = group.lanes;
    warp_.parked = group.parked;
  }

  /// The group that runs next; false and a fault: none can.
  bool choose() {
    meet();
    uint32_t lowest = warp_.parked ? ~0u : warp_.pc;
    LaneGroup *best = nullptr;
    for (LaneGroup &each : warp_.others)
      if (!each.parked && each.pc < lowest) {
        best = &each;
        lowest = each.pc;
      }
    if (best) {
      LaneGroup now{warp_.pc, warp_.lanes, warp_.parked};
      warp_.pc = best->pc;
      warp_.lanes = best->lanes;
      warp_.parked = best->parked;
      *best = now;
      meet();
    } else if (warp_.parked) {
      return meetApart() || stuck();
    }
    return true;
  }

  /// Groups at this place become one with this.
  void meet() {
    auto &others = warp_.others;
    for (size_t k = 0; k < others.size();) {
      if (others[k].pc != warp_.pc) {
        ++k;
        continue;
      }
      warp_.lanes |= others[k].lanes;
      warp_.parked = false;
      others[k] = others.back();
      others.pop_back();
    }
  }

  /// bar.warp.sync alone may be reached at several places by one warp: if
  /// groups that are parked at one make up its mask, all go on.
  bool meetApart() {
    const Instruction &here = code_[warp_.pc];
    if (here.gather != Gather::apart)
      return false;
    uint32_t members =
        warp_.slots<uint32_t>(here.members)[__builtin_ctz(warp_.lanes)];
    uint32_t came = warp_.lanes;
    for (const LaneGroup &each : warp_.others)
      if (code_[each.pc].gather == Gather::apart)
        came |= each.lanes;
    if (members & warp_.live & ~came)
      return false;
    for (LaneGroup &each : warp_.others)
      if (code_[each.pc].gather == Gather::apart && (each.lanes & members)) {
        ++each.pc;
        each.parked = false;
      }
    ++warp_.pc;
    warp_.parked = false;
    warp_.passTime();
    return true;
  }

  bool stuck() {
    const Instruction &here = code_[warp_.pc];
    warp_.active = warp_.lanes;
    std::string elsewhere;
    for (const LaneGroup &each : warp_.others)
      elsewhere += fmt::format("{}lanes {:08x} are at line {}",
                               elsewhere.empty() ? "" : ", ", each.lanes,
                               code_[each.pc].line);
    bool barrier = here.flow == Flow::barrier;
    return warp_.fail(
        barrier ? FaultKind::divergentBarrier : FaultKind::missingLanes, here,
        fmt::format(
            "lanes {:08x} of warp {} wait here for others that will not "
            "come: {}",
            warp_.lanes, warp_.index, elsewhere));
  }

  /// Whether all lanes that an instruction needs are here; if not, these park,
  /// or it is a fault.
  bool gathered(const Instruction &i, uint32_t active) {
    uint32_t needed = kAllLanes;
    bool masked = i.gather == Gather::members || i.gather == Gather::apart;
    if (masked && !commonMembers(i, active, needed))
      return false;
    if (i.gather == Gather::warp && warp_.live != kAllLanes)
      return warp_.fail(
          FaultKind::missingLanes, i,
          fmt::format("needs 32 lanes, and of warp {} only {:08x} "
                      "have not ended",
                      warp_.index, warp_.live));
    uint32_t missing = needed & warp_.live & ~active;
    if (!missing)
      return true;
    // Lanes whose guard is false go on without the others.
    if (uint32_t passing = warp_.lanes & ~active) {
      warp_.others.push_back({warp_.pc + 1, passing});
      warp_.lanes = active;
    }
    warp_.parked = true;
    if (warp_.others.empty())
      stuck();
    return false;
  }

  bool commonMembers(const Instruction &i, uint32_t active, uint32_t &members) {
    uint32_t *masks = warp_.slots<uint32_t>(i.members);
    members = masks[__builtin_ctz(active)];
    return allLanes(active, [&](int lane) {
      if (masks[lane] == members && members >> lane & 1)
        return true;
      return warp_.fail(
          FaultKind::memberMask, i,
          masks[lane] == members
              ? fmt::format("member mask {:08x} is without this lane", members)
              : fmt::format("member masks {:08x} and {:08x} of one warp",
                            members, masks[lane]),
          lane);
    });
  }

  bool guardWritten(const Instruction &i) {
    uint32_t guard = block_.code.tracking[i.tracking].guard;
    return guard == kNowhere || isWritten(warp_, i, guard, warp_.lanes);
  }

  bool readsWritten(const Instruction &i) {
    for (uint32_t each : block_.code.tracking[i.tracking].reads)
      if (!isWritten(warp_, i, each, warp_.active))
        return false;
    return true;
  }

  uint64_t instructions_ = 0, laneInstructions_ = 0;
  Warp &warp_;
  Block &block_;
  const Instruction *code_;
  Observer *observer_;
};

} // namespace

void runWarp(Warp &warp, uint64_t span) { Runner(warp).run(span); }

} // namespace mtc::ptx
