//===- warp.h - 32 lanes that run in lock-step ------------------*- C++ -*-===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_WARP_H
#define MTC_TEST_CUDA_PTX_MACHINE_WARP_H

#include "test/cuda/ptx/decode/instruction.h"
#include "test/cuda/ptx/fault.h"
#include "test/cuda/ptx/machine/in_flight.h"
#include "test/cuda/ptx/machine/shadow.h"
#include "test/cuda/ptx/memory.h"

#include <cstring>
#include <string>
#include <vector>

namespace mtc::ptx {

struct Block;
constexpr int kLanes = 32;
constexpr uint32_t kAllLanes = ~0u;

/// Lanes that are at one place.
struct LaneGroup {
  uint32_t pc;
  uint32_t lanes;
  bool parked = false; ///< waits for lanes that are elsewhere
};

/// Of a lane: bytes on their way from global to shared memory.
struct PendingCopy {
  uint64_t to; ///< shared
  Address from;
  uint32_t bytes, sourceBytes; ///< the rest is zeros
  int lane;
  uint32_t group; ///< of the lane's
  const Instruction *by;
};

struct Warp {
  std::byte *file = nullptr; ///< registers
  uint32_t active = 0;       ///< lanes that take part in this instruction
  alignas(64) uint32_t selected[kLanes]; ///< the same, all ones per lane
  Block *block = nullptr;
  int index = 0;

  uint32_t carry = 0; ///< of lanes, for chains of additions

  // What runs next.
  uint32_t pc = 0;
  uint32_t lanes = 0; ///< that are at pc
  uint32_t live = 0;  ///< that have not ended
  uint32_t born = 0;  ///< that the block has
  bool parked = false;
  std::vector<LaneGroup> others;   ///< lanes of `live` that are elsewhere
  bool waits = false;              ///< at a barrier of the block
  const Instruction *at = nullptr; ///< that barrier's, while it waits

  WarpClock clock;
  Tag globalTag, sharedTag; ///< of lane 0, at the present time
  std::vector<PendingCopy> copies;
  uint32_t groups[kLanes]; ///< that a lane has committed
  InFlight flight;
  std::vector<ProxyFence> proxyFences; ///< in order

  /// Ends the launch; always false, for handlers to return.
  bool fail(FaultKind kind, const Instruction &by, std::string sentence,
            int lane = -1);

  /// What it does from now on came after what it did before; also renews tags.
  void passTime();
  /// The same, but its lanes are ordered no better than they were.
  void passTimeApart();

  uint32_t &mask(uint32_t place) {
    return *reinterpret_cast<uint32_t *>(file + place);
  }
  template <class S> S *slots(uint32_t place) {
    return reinterpret_cast<S *>(file + place);
  }
  /// Of lanes that take part; the others keep theirs.
  void setMask(uint32_t place, uint32_t value) {
    uint32_t &old = mask(place);
    old = (old & ~active) | (value & active);
  }
  /// The value of a slot of 4 or 8 bytes.
  uint64_t read(uint32_t place, uint8_t slot, int lane) {
    return slot == 8 ? slots<uint64_t>(place)[lane]
                     : slots<uint32_t>(place)[lane];
  }
  void write(uint32_t place, uint8_t slot, int lane, uint64_t value) {
    if (slot == 8)
      slots<uint64_t>(place)[lane] = value;
    else
      slots<uint32_t>(place)[lane] = uint32_t(value);
  }
};

/// Calls f(lane) for the lanes of a mask, lowest first.
template <class F> void forLanes(uint32_t mask, F f) {
  for (; mask; mask &= mask - 1)
    f(__builtin_ctz(mask));
}

/// The same, until f returns false; whether it never did.
template <class F> bool allLanes(uint32_t mask, F f) {
  for (; mask; mask &= mask - 1)
    if (!f(__builtin_ctz(mask)))
      return false;
  return true;
}

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_WARP_H
