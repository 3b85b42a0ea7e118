//===- deadlock.cpp - who waits for whom ----------------------------------===//
//
// A rank blocks only after everything that it can meet has been met, all under
// the lock. So when all ranks that have not finished are blocked, no later
// event can come: that is a deadlock, exactly.
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
  return slot.in ? describeCollective(*slot.in, rank)
                 : describeExchange(state, rank);
}

} // namespace

void ThreadsState::detectDeadlock() {
  if (!options.strict)
    return;
  bool anyBlocked = false;
  for (const RankSlot &slot : ranks) {
    if (!slot.finished && !slot.blocked)
      return;
    anyBlocked |= slot.blocked;
  }
  if (!anyBlocked)
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
