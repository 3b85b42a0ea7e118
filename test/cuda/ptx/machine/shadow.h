//===- shadow.h - who touched a place last ----------------------*- C++ -*-===//
//
// A tag says which thread of which operation touched a granule, and when. The
// time of a warp is a number that grows at each barrier it passes; a clock has
// what a warp knows of the times of the others of its block. An access by
// another warp came before this one if that warp's time then is known now.
// Blocks of a launch know nothing of each other. A tag may stand for several
// threads at once, none of which came before the others.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_SHADOW_H
#define MTC_TEST_CUDA_PTX_MACHINE_SHADOW_H

#include "test/cuda/ptx/memory.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace mtc::ptx {

constexpr int kWarps = 32; ///< of a block, at most

/// For how many threads a tag stands.
enum class Crowd : uint8_t { thread, lanes, warps, blocks };

/// 0: nobody. Fields from the lowest bit on: lane 5, warp 5, crowd 2, atomic 1,
/// time 15, block 16, operation 20.
struct Tag {
  uint64_t bits = 0;

  static Tag make(uint32_t operation, uint32_t block, uint32_t time, int warp,
                  int lane) {
    return {uint64_t(operation) << 44 | uint64_t(block & 0xffff) << 28 |
            uint64_t(time & 0x7fff) << 13 | uint64_t(warp) << 5 |
            uint64_t(lane)};
  }
  /// Of an operation as a whole, a copy for instance.
  static Tag ofOperation(uint32_t operation) {
    return make(operation, 0, 0, 0, 0);
  }

  int lane() const { return bits & 31; }
  int warp() const { return bits >> 5 & 31; }
  Crowd crowd() const { return Crowd(bits >> 10 & 3); }
  bool atomic() const { return bits >> 12 & 1; }
  uint32_t time() const { return bits >> 13 & 0x7fff; }
  uint32_t block() const { return bits >> 28 & 0xffff; }
  uint32_t operation() const { return uint32_t(bits >> 44); }

  Tag of(Crowd crowd) const {
    return {(bits & ~(uint64_t(3) << 10)) | uint64_t(crowd) << 10};
  }
  Tag asAtomic() const { return {bits | uint64_t(1) << 12}; }
  Tag at(uint32_t time) const {
    return {(bits & ~(uint64_t(0x7fff) << 13)) | uint64_t(time & 0x7fff) << 13};
  }
};

/// What a warp knows of the times of the warps of its block, its own included.
struct WarpClock {
  std::array<uint32_t, kWarps> times{};
  /// Of the warp itself, when its lanes were ordered last.
  uint32_t together = 0;
  /// Barriers of the whole block that it has passed.
  uint32_t barriers = 0;
  /// Whether it passed a barrier of a part since the last one of all.
  bool passedPart = false;

  void join(const WarpClock &other) {
    for (int k = 0; k < kWarps; ++k)
      times[k] = std::max(times[k], other.times[k]);
  }
};

/// Who touches now.
struct Toucher {
  Tag tag;
  const WarpClock *clock;
  bool lanesConflict; ///< those of one warp, too

  /// Whether nothing ordered the lanes of its warp since a time of it.
  bool lanesRun(uint32_t time) const {
    uint32_t now = clock->times[size_t(tag.warp())];
    return ((now - time) & 0x7fff) <= now - clock->together;
  }
};

/// Of the readers of shared memory, beside those of stream 0: by wgmma.
constexpr unsigned kTileReaders = 1;

/// Why two touches conflict.
enum class Conflict : uint8_t { none, lane, warp, block, operation };

/// Whether what `old` stands for came before, or is no conflict. Of another
/// operation: Conflict::operation, which the caller asks the order of.
inline Conflict conflictOf(Tag old, const Toucher &now, bool atomic) {
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

/// What stands in a shadow after `now` beside `old`, which did not conflict or
/// was a reader as this one is.
inline Tag together(Tag old, const Toucher &now) {
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
#endif // MTC_TEST_CUDA_PTX_MACHINE_SHADOW_H
