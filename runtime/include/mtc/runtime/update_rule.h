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

} // namespace mtc
#endif // MTC_RUNTIME_UPDATE_RULE_H
