//===- arena.h - offsets in the memory of one rank --------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_ARENA_H
#define MTC_RUNTIME_DEVICE_ARENA_H

#include "mtc/runtime/memory.h"

#include <array>
#include <cstdint>

namespace mtc::runtime {

/// An arena by its addresses, which are the device's: only what runs on a
/// stream may dereference them.
struct ArenaView {
  void *base = nullptr;
  int64_t bytes = 0;
};

/// By MtcArena.
using ArenaViews = std::array<ArenaView, MTC_ARENA_COUNT>;
/// Bytes by MtcArena; 0: no such arena.
using ArenaSizes = std::array<int64_t, MTC_ARENA_COUNT>;

/// `offset` bytes from the base of an arena.
struct ArenaOffset {
  MtcArena arena = MTC_ARENA_PARAMS;
  int64_t offset = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_ARENA_H
