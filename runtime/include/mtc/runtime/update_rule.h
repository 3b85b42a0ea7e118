//===- update_rule.h - whether a step changes parameters --------*- C++ -*-===//
//
// The one rule, for hosts and for kernels of the norm: plain C++, no library.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_UPDATE_RULE_H
#define MTC_RUNTIME_UPDATE_RULE_H

namespace mtc {

/// Whether parameters are updated by gradients of this norm, which are clipped
/// to `clip` (<= 0: not). Not where the norm is not finite, nor where squares
/// of gradients may be beyond fp32, from a norm of 2^64 on: an optimizer's mean
/// square would be infinite from then on, and its parameter never move again.
constexpr bool updateApplies(double norm, double clip) {
  // Not so of NaN.
  bool isFinite = norm <= 0x1.fffffffffffffp1023;
  return isFinite && (clip > 0 && clip < norm ? clip : norm) < 0x1p64;
}

/// Whether a step is not updated. A host may issue a step before it knows
/// whether the one before is (`follows`), as if it were: its learning rate and
/// all else in its block are those behind an update. So where that one was
/// `stopped`, this one stops as well, whatever its norm is, and so does every
/// one that follows it, until a step that follows none, which the host issues
/// when it has dealt with the first of them. Steps that stop leave parameters
/// and states of optimizers as they are, but add to gradients: those of the
/// first are computed again where somebody wants to see them.
constexpr bool updateStops(bool stopped, bool follows, double norm,
                           double clip) {
  return (follows && stopped) || !updateApplies(norm, clip);
}

} // namespace mtc
#endif // MTC_RUNTIME_UPDATE_RULE_H
