//===- run_position.h - where a run is --------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CHECKPOINT_RUN_POSITION_H
#define MTC_RUNTIME_CHECKPOINT_RUN_POSITION_H

#include "runtime/base/json.h"

#include <cstdint>
#include <optional>

namespace mtc::runtime {

/// Where a dynamic loss scale is (train/loss_scaler.h).
struct ScalerState {
  double scale = 1;              ///< of the next step
  int64_t growthTracker = 0;     ///< finite steps since it last changed
  int64_t hysteresisTracker = 0; ///< overflows that are left, or fewer than 0
  bool operator==(const ScalerState &) const = default;
};

/// Where a run was: all of it that does not lie in tensors.
struct RunPosition {
  int64_t step = 0;    ///< the last one that is done
  int64_t samples = 0; ///< that were read: the first of the next step
  int64_t tokens = 0;  ///< that were read
  /// Of these, steps whose gradients were not finite, and their samples: they
  /// changed nothing but the loss scale.
  int64_t skippedSteps = 0, skippedSamples = 0;
  std::optional<ScalerState> scaler; ///< of a run that has a dynamic loss scale

  /// Updates that were done.
  int64_t updates() const { return step - skippedSteps; }
  bool operator==(const RunPosition &) const = default;
};

/// Adds the keys of a position to an object. What was skipped, and the scaler,
/// have keys only where there are some.
void writePosition(const RunPosition &position, Json &object);
/// Reads them from where they were written; problems go to the reader's.
RunPosition readPosition(FieldReader &reader);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CHECKPOINT_RUN_POSITION_H
