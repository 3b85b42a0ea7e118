//===- transfers.cpp - one copy from arena to arena -----------------------===//
//
// Both sides post where their bytes lie, and whoever is second copies: either
// reaches the other's arena. So a transfer takes place once both have posted
// it, whatever they do meanwhile, and who waits for it waits for a copy at
// most.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/reduce.h"
#include "runtime/comm/shm/shm_communicator.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {

using comm::TransferSlot;

namespace {

/// Whether a counter of a slot, which wraps, has got to `n`.
bool reached(const std::atomic<uint32_t> &counter, uint32_t n) {
  return int32_t(counter.load(std::memory_order_acquire) - n) >= 0;
}

bool isAmong(const MtcTransfer *row, std::span<const MtcTransfer> rows) {
  std::less<> before;
  return !before(row, rows.data()) && before(row, rows.data() + rows.size());
}

/// One of the two sides gets a transfer.
bool claim(TransferSlot &slot, uint32_t n) {
  uint32_t claimed = slot.claimed.load();
  return claimed != n && slot.claimed.compare_exchange_strong(claimed, n);
}

} // namespace

TransferSlot &ShmCommunicator::slotOf(const Transfer &t) const {
  int64_t stage = mesh().coordinate(rank_, MTC_AXIS_PP);
  return t.row->is_send
             ? control_.transfer(rank_, t.row->peer_stage, t.sequence)
             : control_.transfer(t.peer, stage, t.sequence);
}

/// Posts a transfer if its slot is free.
Status ShmCommunicator::publish(Transfer &t) {
  TransferSlot &slot = slotOf(t);
  uint32_t n = t.sequence + 1;
  if (t.posted || !reached(slot.done, n - control_.header().ringSlots))
    return Status::okay();
  t.posted = true;
  const MtcTransfer &row = *t.row;
  bool sends = row.is_send;
  (sends ? slot.sent : slot.expected) = {row.tag, row.bytes};
  (sends ? slot.from : slot.to) = {row.arena, row.offset};
  // In one order for all: of two that post at once, one sees both.
  (sends ? slot.sendPosted : slot.receivePosted).store(n);
  if ((sends ? slot.receivePosted : slot.sendPosted).load() != n ||
      !claim(slot, n))
    return Status::okay();
  return move(t, slot);
}

/// Whether what is sent is what is expected.
Status ShmCommunicator::agreement(const Transfer &t,
                                  const TransferSlot &slot) const {
  int source = t.row->is_send ? rank_ : t.peer;
  int target = t.row->is_send ? t.peer : rank_;
  return comm::checkTransfer(source, slot.sent, target, slot.expected);
}

/// Does a transfer that both sides have posted and this one has claimed.
Status ShmCommunicator::move(const Transfer &t, TransferSlot &slot) {
  uint32_t n = t.sequence + 1;
  Status agreed = agreement(t, slot);
  Status status = agreed.ok() ? copy(t, slot) : agreed;
  // The verdict goes out before this rank's failure aborts the world.
  if (status.ok())
    slot.done.store(n, std::memory_order_release);
  else if (!agreed.ok())
    slot.mismatched.store(n, std::memory_order_release);
  comm::signalEvent(control_.rank(t.peer).event);
  return status;
}

Status ShmCommunicator::copy(const Transfer &t, const TransferSlot &slot) {
  int source = t.row->is_send ? rank_ : t.peer;
  int target = t.row->is_send ? t.peer : rank_;
  void *from = nullptr, *to = nullptr;
  MTC_RETURN_IF_ERROR(resolve(source, slot.from, slot.sent.bytes, from));
  MTC_RETURN_IF_ERROR(resolve(target, slot.to, slot.sent.bytes, to));
  // Within one rank the two may overlap.
  if (source != target)
    comm::copyBytes(to, from, slot.sent.bytes,
                    comm::leavesCaches(2 * slot.sent.bytes));
  else if (slot.sent.bytes > 0)
    std::memmove(to, from, size_t(slot.sent.bytes));
  return Status::okay();
}

Status ShmCommunicator::post(std::span<const MtcTransfer> transfers) {
  if (Status known = failure(); !known.ok())
    return known;
  if (control_.aborted())
    return fail(control_.abortStatus());
  Status valid = comm::checkTransfers(rank_, mesh(), arenas_, transfers);
  if (!valid.ok())
    return fail(valid);
  for (const MtcTransfer &row : transfers) {
    std::vector<uint32_t> &begun = row.is_send ? sends_ : receives_;
    int peer = mesh().moved(rank_, MTC_AXIS_PP, row.peer_stage);
    // Which side copies is chance: what a step maps must not be.
    if (begun[row.peer_stage] == 0)
      if (Status status = mapArenas(peer); !status.ok())
        return fail(status);
    open_.push_back({&row, peer, begun[row.peer_stage]++, false});
    if (Status status = publish(open_.back()); !status.ok())
      return fail(status);
  }
  return Status::okay();
}

/// One pass over all open transfers; how many of `awaited` are not done.
Status ShmCommunicator::progress(std::span<const MtcTransfer> awaited,
                                 size_t &remaining) {
  remaining = 0;
  for (Transfer &t : open_) {
    MTC_RETURN_IF_ERROR(publish(t));
    const TransferSlot &slot = slotOf(t);
    if (slot.mismatched.load(std::memory_order_acquire) == t.sequence + 1)
      return agreement(t, slot);
    remaining += isAmong(t.row, awaited) && !reached(slot.done, t.sequence + 1);
  }
  return Status::okay();
}

Status
ShmCommunicator::checkAwaited(std::span<const MtcTransfer> transfers) const {
  size_t known = size_t(std::ranges::count_if(
      open_, [&](const Transfer &t) { return isAmong(t.row, transfers); }));
  return known == transfers.size()
             ? Status::okay()
             : comm::unposted(rank_, transfers.size(), known);
}

void ShmCommunicator::forget(std::span<const MtcTransfer> transfers) {
  std::erase_if(open_,
                [&](const Transfer &t) { return isAmong(t.row, transfers); });
  for (const MtcTransfer &t : transfers)
    moved_[MTC_GROUP_COUNT] += t.is_send ? t.bytes : 0;
}

Status ShmCommunicator::wait(std::span<const MtcTransfer> transfers) {
  if (Status known = failure(); !known.ok())
    return known;
  if (Status known = checkAwaited(transfers); !known.ok())
    return fail(known);
  comm::SharedEvent &event = control_.rank(rank_).event;
  for (;;) {
    // Read before looking at the slots: what comes later changes the event.
    uint32_t seen = event.value.load(std::memory_order_acquire);
    bool aborted = control_.aborted();
    size_t remaining = 0;
    Status status = progress(transfers, remaining);
    if (!status.ok())
      return fail(status);
    if (remaining == 0) {
      forget(transfers);
      return Status::okay();
    }
    // The abort was seen before that pass, so no verdict of a peer was missed.
    if (aborted)
      return fail(control_.abortStatus());
    comm::waitForEvent(event, seen, control_.header().abortWord, looks());
  }
}

} // namespace mtc::runtime
