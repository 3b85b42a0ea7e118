//===- transfers.cpp - sends meet receives --------------------------------===//
//
// Per pair of ranks, sends and receives meet in the order in which they were
// posted. Whoever posts the second side of a transfer copies the bytes.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/threads/state.h"

#include <algorithm>
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
    matches.back().send.transfer->busy = true;
    matches.back().receive.transfer->busy = true;
  }
}

void copyBytes(const std::vector<Match> &matches) {
  for (const Match &m : matches)
    if (m.send.side.bytes == m.receive.side.bytes && m.send.side.bytes > 0)
      std::memmove(m.receive.data, m.send.data, m.send.side.bytes);
}

/// A transfer of `rank` is done.
void finishTransfer(ThreadsState &state, int rank, OpenTransfer &transfer) {
  transfer.done = true;
  if (transfer.awaited && --state.ranks[rank].awaited == 0)
    state.release(rank, Within::wait);
}

void endMatch(ThreadsState &state, const Match &m) {
  m.send.transfer->busy = m.receive.transfer->busy = false;
  Status status =
      checkTransfer(m.source, m.send.side, m.target, m.receive.side);
  if (status.ok()) {
    finishTransfer(state, m.source, *m.send.transfer);
    finishTransfer(state, m.target, *m.receive.transfer);
  } else {
    int members[] = {m.source, m.target};
    state.fail(members, status);
  }
  // A rank that has failed or finished meanwhile waits for its busy mark to go.
  state.ranks[m.source].wake.notify_all();
  state.ranks[m.target].wake.notify_all();
}

/// A row for what a rank posts, from those that it keeps.
OpenTransfer &openTransfer(RankSlot &self, const MtcTransfer &row) {
  if (self.unused.empty())
    self.unused.emplace_back();
  self.open.splice(self.open.end(), self.unused, self.unused.begin());
  return self.open.back() = {&row};
}

bool isBusy(const RankSlot &self) {
  return std::ranges::any_of(self.open, &OpenTransfer::busy);
}

bool isAmong(const MtcTransfer *row, std::span<const MtcTransfer> rows) {
  std::less<> before;
  return !before(row, rows.data()) && before(row, rows.data() + rows.size());
}

} // namespace

void ThreadsState::withdraw(Lock &held, int rank) {
  RankSlot &self = ranks[rank];
  for (size_t peer = 0; peer < ranks.size(); ++peer) {
    channel(rank, int(peer)).sends.clear();
    channel(int(peer), rank).receives.clear();
  }
  self.wake.wait(held, [&] { return !isBusy(self); });
  self.unused.splice(self.unused.end(), self.open);
}

Status ThreadsState::post(int rank, std::span<const ArenaView> arenas,
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
  std::vector<Match> &matches = self.matches;
  matches.clear();
  for (const MtcTransfer &t : transfers) {
    int peer = mesh.moved(rank, MTC_AXIS_PP, t.peer_stage);
    int source = t.is_send ? rank : peer, target = t.is_send ? peer : rank;
    Channel &pair = channel(source, target);
    Pending pending{static_cast<char *>(arenas[t.arena].base) + t.offset,
                    {t.tag, t.bytes},
                    &openTransfer(self, t)};
    (t.is_send ? pair.sends : pair.receives).push_back(pending);
    takeMatches(pair, source, target, matches);
  }
  if (matches.empty())
    return Status::okay();
  held.unlock();
  copyBytes(matches);
  held.lock();
  for (const Match &m : matches)
    endMatch(*this, m);
  return self.failure;
}

Status ThreadsState::wait(int rank, std::span<const MtcTransfer> transfers) {
  Lock held(lock);
  RankSlot &self = ranks[rank];
  if (!self.failure.ok())
    return self.failure;
  size_t known = 0;
  self.awaited = 0;
  for (OpenTransfer &t : self.open)
    if (isAmong(t.row, transfers)) {
      ++known;
      t.awaited = true;
      self.awaited += !t.done;
    }
  if (known != transfers.size()) {
    Status status = unposted(rank, transfers.size(), known);
    fail({&rank, 1}, status);
    return status;
  }
  if (self.awaited > 0) {
    block(rank, Within::wait);
    detectDeadlock();
    self.wake.wait(held,
                   [&] { return self.awaited == 0 || !self.failure.ok(); });
  }
  if (self.awaited > 0) {
    withdraw(held, rank);
    return self.failure;
  }
  for (auto it = self.open.begin(); it != self.open.end();) {
    auto next = std::next(it);
    if (isAmong(it->row, transfers))
      self.unused.splice(self.unused.end(), self.open, it);
    it = next;
  }
  return Status::okay();
}

} // namespace mtc::runtime::comm
