//===- update_rule.h - whether a step changes parameters --------*- C++ -*-===//
//
// The one rule, for hosts and for kernels of the norm: plain C++, no library.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_UPDATE_RULE_H
#define MTC_RUNTIME_UPDATE_RULE_H

#include "mtc/runtime/abi.h"

namespace mtc {

/// Not so of NaN.
constexpr bool isFiniteNorm(double norm) {
  return norm <= 0x1.fffffffffffffp1023;
}

/// Whether parameters are updated by gradients of this norm, which are clipped
/// to `clip` (<= 0: not). Not where the norm is not finite, nor where squares
/// of gradients may be beyond fp32, from a norm of 2^64 on: an optimizer's mean
/// square would be infinite from then on, and its parameter never move again.
constexpr bool updateApplies(double norm, double clip) {
  return isFiniteNorm(norm) && (clip > 0 && clip < norm ? clip : norm) < 0x1p64;
}

/// What becomes of a step.
enum class StepEnd {
  applied, ///< parameters and optimizers' states are updated
  skipped, ///< they are not; the loss scale falls, and training goes on
  stopped, ///< they are not, and training ends, unless it is a step again
};

/// The end of a step whose gradients are `scaled` or not. A host may issue a
/// step before it knows what becomes of the one before. Where that one was
/// `stopped`, this one stops as well, whatever its norm is, and so does every
/// one that follows it. Steps that are not applied leave parameters and states
/// of optimizers as they are; behind one that stops, those that follow add to
/// its gradients, which are computed again where somebody wants to see them.
constexpr StepEnd endOfStep(bool stopped, int32_t follows, bool scaled,
                            double norm, double clip) {
  if (follows == MTC_FOLLOWS_TWIN || (follows == MTC_FOLLOWS_STEP && stopped))
    return StepEnd::stopped;
  if (updateApplies(norm, clip))
    return StepEnd::applied;
  return scaled && !isFiniteNorm(norm) ? StepEnd::skipped : StepEnd::stopped;
}

} // namespace mtc
#endif // MTC_RUNTIME_UPDATE_RULE_H
