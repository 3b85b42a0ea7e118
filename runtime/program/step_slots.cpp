//===- step_slots.cpp - what host and device tell each other of steps -----===//

#include "runtime/program/step_slots.h"

#include "runtime/device/work_keeper.h"

#include <memory>

namespace mtc::runtime {

Status StepSlots::open(WorkKeeper *keeper) {
  for (int i = 0; i < kCount; ++i) {
    slots_[i].messages = &own_[i];
    if (!keeper)
      continue;
    std::byte *lent = nullptr;
    MTC_RETURN_IF_ERROR(keeper->hostMemory(sizeof(StepMessages), lent));
    slots_[i].messages =
        std::construct_at(reinterpret_cast<StepMessages *>(lent));
  }
  return Status::okay();
}

StepSlot &StepSlots::read() {
  // The steps that are not read are the last ones.
  return slots_[(begun_ - static_cast<unsigned>(--ended_)) % kCount];
}

} // namespace mtc::runtime
