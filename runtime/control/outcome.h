//===- outcome.h - which rank is to blame -----------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_OUTCOME_H
#define MTC_RUNTIME_CONTROL_OUTCOME_H

#include "runtime/base/status.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// How one rank ended.
struct RankOutcome {
  int rank = 0;
  Status status;
  bool killed = false;   ///< a signal that nobody here sent ended it
  std::string when = {}; ///< behind the message, if it was: " in step 7, ..."
  bool told = false;     ///< the message is the rank's own, as a process
};

/// The first rank that did not merely notice another's end, or was stopped;
/// else the first one. Null: no rank failed.
const RankOutcome *culpritOf(const std::vector<RankOutcome> &failures);

/// The result of a run from its ranks' failures in order of discovery: that of
/// the culprit, named in the message.
/// Interrupted, or stopped with a checkpoint, if there is none and a rank was,
/// or `stopAsked`.
Status summarize(const std::vector<RankOutcome> &failures, bool stopAsked);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_OUTCOME_H
