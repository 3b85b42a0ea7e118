//===- profile.h - what the ops of a step take ------------------*- C++ -*-===//
//
// Library mtc_control.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_PROFILE_H
#define MTC_RUNTIME_PROFILE_H

#include "mtc/runtime/run.h"

namespace mtc::runtime {

struct ProfileOptions {
  /// How the bundle is trained, by ranks of this host. Steps behind the warm-up
  /// are timed.
  RunOptions run;
  int64_t warmUp = 2; ///< steps of the run that do not count
  bool json = false;
};

/// Measures what the processor and its memory can do at most, trains a bundle
/// for CPUs, and says of each op of its plan what it does and how long it took,
/// beside those limits (docs/profile.md): as text for people or as JSON.
/// Errors: usage for a bundle for GPUs, and for options that a profile has no
/// use for; those of runBundle.
Status profileBundle(const ProfileOptions &options, std::string &text);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROFILE_H
