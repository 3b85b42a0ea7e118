//===- step_slots.h - what host and device tell each other of steps -*- C++
//-*-//
#ifndef MTC_RUNTIME_PROGRAM_STEP_SLOTS_H
#define MTC_RUNTIME_PROGRAM_STEP_SLOTS_H

#include "mtc/runtime/abi.h"
#include "runtime/device/device.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace mtc::runtime {

/// Where a device has the block of a step, and behind it the updates so far.
inline constexpr ArenaOffset kStepBlock{MTC_ARENA_STEP,
                                        offsetof(MtcStepState, block)};
/// Where a device that makes the block by itself has what it is made of.
inline constexpr ArenaOffset kStepOrder{MTC_ARENA_STEP,
                                        offsetof(MtcStepState, order)};

/// Behind a step, as they lie on the device; the loss is in the block.
struct StepFound {
  MtcStepBlock block;
  MtcUpdates updates; ///< as MtcStepState has them
};
static_assert(offsetof(MtcStepState, updates) - offsetof(MtcStepState, block) ==
              offsetof(StepFound, updates));

/// What the host gives the device for a step, and what comes back.
struct StepMessages {
  MtcStepOrder order;
  StepFound found;
};

/// Steps take the slots in turn, so that the host may fill the messages of a
/// step, and what else it has twice for that, while the device still reads and
/// writes those of the step before. Of a slot nothing is touched before the
/// event is awaited that ended its last step.
struct StepSlot {
  StepMessages *messages = nullptr;
  Event done;         ///< behind the copies of the results
  uint64_t notes = 0; ///< of the flight record, up to there
};

class StepSlots {
public:
  static constexpr int kCount = 2;

  /// In memory that copies reach while the host goes on, where `keeper` lends
  /// some; it may be null, and else outlives this. Errors: those of
  /// WorkKeeper::hostMemory.
  Status open(WorkKeeper *keeper);

  /// From here on the next slot is the one that is filled.
  StepSlot &turn() {
    ++begun_;
    return current();
  }
  StepSlot &current() { return slots_[index()]; }
  /// Which one that is, from 0.
  int index() const { return begun_ % kCount; }

  /// The results of the current step are on their way.
  void end() { ++ended_; }
  /// The slot of the first step whose results nobody has read; they are read.
  StepSlot &read();

private:
  std::array<StepMessages, kCount> own_{};
  std::array<StepSlot, kCount> slots_{};
  unsigned begun_ = 0;
  int ended_ = 0; ///< and not read, at most kCount
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROGRAM_STEP_SLOTS_H
