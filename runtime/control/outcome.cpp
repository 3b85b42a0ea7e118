//===- outcome.cpp - which rank is to blame -------------------------------===//

#include "runtime/control/outcome.h"

#include <fmt/format.h>

namespace mtc::runtime {
namespace {

bool wasStopped(const RankOutcome &outcome) {
  return outcome.status.code() == StatusCode::interrupted ||
         outcome.status.code() == StatusCode::stoppedSaved;
}

/// A rank that ended because another one did, or because it was told to.
bool followsOthers(const RankOutcome &outcome) {
  return !outcome.killed &&
         (outcome.status.code() == StatusCode::peerDied || wasStopped(outcome));
}

/// All ranks end behind one step and say so; who logs says what the log lost,
/// too.
const RankOutcome *mostSaid(const std::vector<RankOutcome> &failures) {
  const RankOutcome *most = nullptr;
  for (const RankOutcome &failure : failures)
    if (wasStopped(failure) && (!most || failure.status.message().size() >
                                             most->status.message().size()))
      most = &failure;
  return most;
}

} // namespace

const RankOutcome *culpritOf(const std::vector<RankOutcome> &failures) {
  for (const RankOutcome &failure : failures)
    if (!followsOthers(failure))
      return &failure;
  return failures.empty() ? nullptr : &failures.front();
}

Status summarize(const std::vector<RankOutcome> &failures, bool stopAsked) {
  if (failures.empty())
    return Status::okay();
  const RankOutcome *culprit = culpritOf(failures);
  bool allFollow = followsOthers(*culprit);
  if (const RankOutcome *stopped = mostSaid(failures); allFollow && stopped)
    return {stopped->status.code(), (stopAsked ? "stopped by a signal, " : "") +
                                        stopped->status.message()};
  if (allFollow && stopAsked)
    return {StatusCode::interrupted, "stopped by a signal"};
  return {culprit->status.code(),
          fmt::format("rank {}: {}{}", culprit->rank, culprit->status.message(),
                      culprit->when)};
}

} // namespace mtc::runtime
