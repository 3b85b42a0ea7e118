//===- deadlock.cpp - who waits for whom ----------------------------------===//
//
// A rank blocks only after everything that it can meet has been met, all under
// the lock. So when no thread of a rank that has not finished runs, no later
// event can come: that is a deadlock, exactly. A thread that sleeps waits for
// another one of its rank, which says so before it wakes it.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/threads/state.h"

#include <fmt/format.h>

namespace mtc::runtime::comm {
namespace {

std::string describeCollective(const Rendezvous &group, int rank) {
  std::string missing;
  CallRecord call;
  for (size_t i = 0; i < group.members.size(); ++i) {
    if (group.members[i] == rank)
      call = group.calls[i];
    if (!group.present[i])
      missing +=
          fmt::format("{}{}", missing.empty() ? "" : ", ", group.members[i]);
  }
  return fmt::format("rank {} waits in {} of group {} for rank {}", rank,
                     describe(call), groupName(call.group), missing);
}

std::string describeExchange(ThreadsState &state, int rank) {
  std::string waits;
  auto add = [&](const char *what, const Pending &p, const char *way,
                 size_t peer) {
    waits += fmt::format("{}{} tag {} ({} bytes) {} rank {}",
                         waits.empty() ? "" : " and ", what, p.side.tag,
                         p.side.bytes, way, peer);
  };
  for (size_t peer = 0; peer < state.ranks.size(); ++peer) {
    for (const Pending &p : state.channel(rank, int(peer)).sends)
      add("send", p, "to", peer);
    for (const Pending &p : state.channel(int(peer), rank).receives)
      add("receive", p, "from", peer);
  }
  return fmt::format("rank {} waits in an exchange to {}", rank, waits);
}

std::string describeRank(ThreadsState &state, int rank) {
  const RankSlot &slot = state.ranks[rank];
  if (slot.finished)
    return fmt::format("rank {} has finished", rank);
  std::string text = slot.in ? describeCollective(*slot.in, rank) : "";
  if (slot.blocked[size_t(Within::wait)] || text.empty())
    text += (text.empty() ? "" : ", and ") + describeExchange(state, rank);
  return text;
}

} // namespace

void ThreadsState::detectDeadlock() {
  if (!options.strict)
    return;
  bool allFinished = true;
  for (const RankSlot &slot : ranks) {
    if (!slot.finished && slot.running > 0)
      return;
    allFinished &= slot.finished;
  }
  if (allFinished)
    return;
  std::string message = "deadlock: nobody can go on";
  std::vector<int> all;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    message += (rank ? "; " : ": ") + describeRank(*this, int(rank));
    all.push_back(int(rank));
  }
  fail(all, {StatusCode::hang, message});
}

} // namespace mtc::runtime::comm
