//===- update_state.h - what updates lead to --------------------*- C++ -*-===//
//
// Counts updates and what follows from their number, for hosts and for kernels:
// plain C++, no library. All is in double, and nothing may be contracted: a
// device has the host's bits.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_UPDATE_STATE_H
#define MTC_RUNTIME_UPDATE_STATE_H

#include "mtc/runtime/abi.h"

namespace mtc {

/// The power of a beta behind one more update. A running product: so a run that
/// goes on has the bits of one that was not stopped.
constexpr double nextPower(double power, double beta) { return power * beta; }

/// What a moment is multiplied by, in the update that this power is behind
/// (Kingma and Ba 2015, algorithm 1): 1 / (1 - beta^n).
constexpr float inverseBias(double power) {
  return static_cast<float>(1 / (1 - power));
}

/// What gradients are multiplied by that have this scale.
constexpr double inverseScale(float scale) {
  return 1 / static_cast<double>(scale);
}

/// The scale of the next step, by the rule of Megatron-LM's DynamicGradScaler.
/// Behind a step whose gradients
///   are not finite: growth is 0, hysteresis one less; if none is left the
///     scale halves, to `least` at least, and so at each further one
///   are finite: growth is one more; at `window` it is 0, hysteresis whole
///     again, and the scale doubles, unless it would not be finite in fp32.
constexpr void moveScale(const MtcScaleRule &rule, bool finite, double &scale,
                         int64_t &growth, int64_t &hysteresis) {
  if (!rule.scales || !rule.adapts)
    return;
  if (!finite) {
    growth = 0;
    double half = scale * 0.5;
    if (--hysteresis <= 0)
      scale = half > rule.least ? half : rule.least;
    return;
  }
  if (++growth < rule.window)
    return;
  growth = 0;
  hysteresis = rule.hysteresis;
  if (scale * 2 <= 0x1.fffffep127)
    scale *= 2;
}

/// Behind a step that was applied or, if not, skipped.
constexpr void countStep(const MtcStepOrder &order, bool applied,
                         MtcUpdates &updates) {
  if (applied) {
    ++updates.done;
    updates.power1 = nextPower(updates.power1, order.beta1);
    updates.power2 = nextPower(updates.power2, order.beta2);
  }
  moveScale(order.scale_rule, applied, updates.scale, updates.growth,
            updates.hysteresis);
}

} // namespace mtc
#endif // MTC_RUNTIME_UPDATE_STATE_H
