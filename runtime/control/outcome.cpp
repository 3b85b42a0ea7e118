//===- outcome.cpp - which rank is to blame -------------------------------===//

#include "runtime/control/outcome.h"

#include <fmt/format.h>

namespace mtc::runtime {
namespace {

/// A rank that ended because another one did, or because it was told to.
bool followsOthers(const RankOutcome &outcome) {
  return !outcome.killed && (outcome.status.code() == StatusCode::peerDied ||
                             outcome.status.code() == StatusCode::interrupted);
}

} // namespace

Status summarize(const std::vector<RankOutcome> &failures, bool stopAsked) {
  if (failures.empty())
    return Status::okay();
  const RankOutcome *culprit = nullptr;
  for (const RankOutcome &failure : failures)
    if (!culprit && !followsOthers(failure))
      culprit = &failure;
  if (!culprit)
    for (const RankOutcome &failure : failures)
      if (failure.status.code() == StatusCode::interrupted)
        // All ranks end behind one step, and say the same.
        return {StatusCode::interrupted,
                "stopped by a signal, " + failure.status.message()};
  if (!culprit && stopAsked)
    return {StatusCode::interrupted, "stopped by a signal"};
  if (!culprit)
    culprit = &failures.front();
  return {culprit->status.code(),
          fmt::format("rank {}: {}", culprit->rank, culprit->status.message())};
}

} // namespace mtc::runtime
