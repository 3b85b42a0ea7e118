//===- memory.h - arenas, pools and tags ------------------------*- C++ -*-===//
//
// The one definition of the memory of a rank, for all levels: the planner and
// its verifier, generated code, descriptors, the runtime, reports.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_MEMORY_H
#define MTC_RUNTIME_MEMORY_H

#include "mtc/runtime/abi.h"
#include "mtc/runtime/table.h"

#include <cstdint>
#include <iterator>
#include <string>

namespace mtc {

/// A kind of memory.
struct ArenaInfo {
  MtcArena id;
  std::string_view name; ///< in IR, reports, messages and names of mappings
  bool slotted;          ///< it is made of pools, whose slots rows name
  /// Its values live for one fragment or microbatch, and start at a cache line;
  /// those of the others lie where buckets say.
  bool transient;
};

/// By MtcArena.
inline constexpr ArenaInfo kArenas[] = {
    {MTC_ARENA_PARAMS, "params", false, false},
    {MTC_ARENA_GRADS, "grads", false, false},
    {MTC_ARENA_OPTIMIZER, "optimizer", false, false},
    {MTC_ARENA_ACTIVATIONS, "activations", true, true},
    {MTC_ARENA_WORKSPACE, "workspace", false, true},
    {MTC_ARENA_STEP, "step", false, false},
};
static_assert(std::size(kArenas) == MTC_ARENA_COUNT &&
              inOrder(kArenas, MTC_ARENA_COUNT));

/// A pool of equal slots in the activation arena (docs/schedules.md).
struct PoolInfo {
  MtcPool id;
  std::string_view name;
};

/// By MtcPool.
inline constexpr PoolInfo kPools[] = {
    {MTC_POOL_RECV_ACTIVATION, "recv_activation"},
    {MTC_POOL_RECV_GRADIENT, "recv_gradient"},
    {MTC_POOL_SEND_ACTIVATION, "send_activation"},
    {MTC_POOL_SEND_GRADIENT, "send_gradient"},
    {MTC_POOL_SAVED, "saved"},
    {MTC_POOL_SPLIT, "split"},
};
static_assert(std::size(kPools) == MTC_POOL_COUNT &&
              inOrder(kPools, MTC_POOL_COUNT));

constexpr std::string_view poolName(MtcPool pool) { return kPools[pool].name; }
constexpr MtcPool receivePool(bool gradient) {
  return gradient ? MTC_POOL_RECV_GRADIENT : MTC_POOL_RECV_ACTIVATION;
}
constexpr MtcPool sendPool(bool gradient) {
  return gradient ? MTC_POOL_SEND_GRADIENT : MTC_POOL_SEND_ACTIVATION;
}

/// What a transfer carries, the same on both sides: the activation of a
/// microbatch behind a virtual stage, or the gradient of what that received.
struct Tag {
  static constexpr int kMicrobatchBits = 20, kStageBits = 10;
  static constexpr int64_t kMicrobatches = int64_t(1) << kMicrobatchBits;
  static constexpr int64_t kStages = int64_t(1) << kStageBits;

  bool gradient = false;
  int64_t microbatch = 0;
  int64_t virtualStage = 0; ///< that made the value

  constexpr bool fits() const {
    return microbatch >= 0 && microbatch < kMicrobatches && virtualStage >= 0 &&
           virtualStage < kStages;
  }
  /// MtcTransfer::tag.
  constexpr int32_t encoded() const {
    return static_cast<int32_t>(
        (int64_t(gradient) << (kMicrobatchBits + kStageBits)) |
        (virtualStage << kMicrobatchBits) | microbatch);
  }
  /// "a0.1": the activation of microbatch 0 behind virtual stage 1, as
  /// schedules print it; "g0.1" the gradient.
  std::string text() const {
    return (gradient ? "g" : "a") + std::to_string(microbatch) + "." +
           std::to_string(virtualStage);
  }
  bool operator==(const Tag &) const = default;
};

} // namespace mtc
#endif // MTC_RUNTIME_MEMORY_H
