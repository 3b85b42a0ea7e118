//===- exchange.cpp - rendezvous of sends and receives --------------------===//
//
// Per pair of ranks, sends and receives meet in the order in which they were
// posted. Whoever posts the second side of a transfer copies the bytes.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/threads/state.h"

#include <cstring>

namespace mtc::runtime::comm {
namespace {

/// Takes what met off the queues of one channel.
void takeMatches(Channel &channel, int source, int target,
                 std::vector<Match> &matches) {
  while (!channel.sends.empty() && !channel.receives.empty()) {
    matches.push_back(
        {source, target, channel.sends.front(), channel.receives.front()});
    channel.sends.erase(channel.sends.begin());
    channel.receives.erase(channel.receives.begin());
    ++matches.back().send.call->busy;
    ++matches.back().receive.call->busy;
  }
}

void copyBytes(const std::vector<Match> &matches) {
  for (const Match &m : matches)
    if (m.send.side.bytes == m.receive.side.bytes && m.send.side.bytes > 0)
      std::memmove(m.receive.data, m.send.data, m.send.side.bytes);
}

void settle(ThreadsState &state, const Match &m) {
  --m.send.call->busy;
  --m.receive.call->busy;
  Status status =
      checkTransfer(m.source, m.send.side, m.target, m.receive.side);
  if (!status.ok()) {
    int members[] = {m.source, m.target};
    state.fail(members, status);
    return;
  }
  if (--m.send.call->remaining == 0)
    state.release(m.source);
  if (--m.receive.call->remaining == 0)
    state.release(m.target);
}

/// Forgets what a failed call left in the queues: it lives on a stack.
void withdraw(ThreadsState &state, const ExchangeCall &call) {
  auto mine = [&](const Pending &p) { return p.call == &call; };
  for (Channel &channel : state.channels) {
    std::erase_if(channel.sends, mine);
    std::erase_if(channel.receives, mine);
  }
}

} // namespace

Status ThreadsState::exchange(int rank, std::span<const ArenaView> arenas,
                              std::span<const MtcTransfer> transfers) {
  Lock held(lock);
  RankSlot &self = ranks[rank];
  if (!self.failure.ok())
    return self.failure;
  Status valid = checkTransfers(rank, mesh, arenas, transfers);
  if (!valid.ok()) {
    fail({&rank, 1}, valid);
    return valid;
  }

  ExchangeCall call{int(transfers.size())};
  std::vector<Match> &matches = self.matches;
  matches.clear();
  for (const MtcTransfer &t : transfers) {
    int peer = mesh.moved(rank, MTC_AXIS_PP, t.peer_stage);
    int source = t.is_send ? rank : peer, target = t.is_send ? peer : rank;
    Channel &pair = channel(source, target);
    Pending pending{static_cast<char *>(arenas[t.arena].base) + t.offset,
                    {t.tag, t.bytes},
                    &call};
    (t.is_send ? pair.sends : pair.receives).push_back(pending);
    takeMatches(pair, source, target, matches);
  }
  if (!matches.empty()) {
    held.unlock();
    copyBytes(matches);
    held.lock();
    for (const Match &m : matches)
      settle(*this, m);
    // A side that failed meanwhile waits for its busy mark to go.
    for (const Match &m : matches) {
      ranks[m.source].wake.notify_all();
      ranks[m.target].wake.notify_all();
    }
  }
  if (call.remaining == 0)
    return Status::okay();

  if (self.failure.ok()) {
    self.blocked = true;
    detectDeadlock();
  }
  self.wake.wait(held, [&] {
    return call.remaining == 0 || (!self.failure.ok() && call.busy == 0);
  });
  if (call.remaining == 0)
    return Status::okay();
  withdraw(*this, call);
  return self.failure;
}

} // namespace mtc::runtime::comm
