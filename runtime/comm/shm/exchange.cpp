//===- exchange.cpp - one copy from arena to arena ------------------------===//
//
// A sender posts where its bytes lie; the receiver copies them and says so. All
// transfers of a group make progress together, so a group that sends and
// receives both ways cannot block itself.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/shm/shm_communicator.h"

#include <cstring>

namespace mtc::runtime {

using comm::TransferRing;
using comm::TransferSlot;

void ShmCommunicator::startTransfers(std::span<const MtcTransfer> transfers) {
  transfers_.clear();
  for (const MtcTransfer &t : transfers) {
    std::vector<uint32_t> &begun = t.is_send ? sends_ : receives_;
    Transfer state;
    state.peer = mesh().moved(rank_, MTC_AXIS_PP, t.peer_stage);
    state.sequence = begun[t.peer_stage]++;
    transfers_.push_back(state);
  }
}

Status ShmCommunicator::progressSend(const MtcTransfer &t, Transfer &state) {
  TransferRing &ring = control_.ring(rank_, t.peer_stage);
  TransferSlot &slot = ring.slots[state.sequence % comm::kRingSlots];
  uint32_t &confirmed = confirmed_[t.peer_stage];
  bool room = state.sequence - confirmed < comm::kRingSlots;
  bool turn = ring.posted.load(std::memory_order_relaxed) == state.sequence;
  if (!state.posted && room && turn) {
    slot.sent = {t.tag, t.bytes};
    slot.placement = {t.arena, t.offset};
    slot.mismatch = 0;
    ring.posted.store(state.sequence + 1, std::memory_order_release);
    comm::signalEvent(control_.rank(state.peer).event);
    state.posted = true;
  }
  uint32_t taken = ring.taken.load(std::memory_order_acquire);
  if (!state.posted || confirmed != state.sequence ||
      int32_t(taken - state.sequence) <= 0)
    return Status::okay();
  ++confirmed;
  state.done = true;
  if (slot.mismatch)
    return comm::checkTransfer(rank_, slot.sent, state.peer, slot.expected);
  moved_[MTC_GROUP_COUNT] += t.bytes;
  return Status::okay();
}

Status ShmCommunicator::receive(const MtcTransfer &t, const Transfer &state,
                                TransferSlot &slot) {
  slot.expected = {t.tag, t.bytes};
  Status matches =
      comm::checkTransfer(state.peer, slot.sent, rank_, slot.expected);
  if (!matches.ok()) {
    slot.mismatch = 1;
    return matches;
  }
  void *from = nullptr;
  MTC_RETURN_IF_ERROR(resolve(state.peer, slot.placement, t.bytes, from));
  if (t.bytes > 0)
    std::memmove(static_cast<char *>(arenas_[t.arena].base) + t.offset, from,
                 size_t(t.bytes));
  return Status::okay();
}

Status ShmCommunicator::progressReceive(const MtcTransfer &t, Transfer &state) {
  int64_t stage = mesh().coordinate(rank_, MTC_AXIS_PP);
  TransferRing &ring = control_.ring(state.peer, stage);
  uint32_t posted = ring.posted.load(std::memory_order_acquire);
  bool turn = ring.taken.load(std::memory_order_relaxed) == state.sequence;
  if (!turn || int32_t(posted - state.sequence) <= 0)
    return Status::okay();
  TransferSlot &slot = ring.slots[state.sequence % comm::kRingSlots];
  Status status = receive(t, state, slot);
  // The verdict goes out before this rank's failure aborts the world.
  ring.taken.store(state.sequence + 1, std::memory_order_release);
  comm::signalEvent(control_.rank(state.peer).event);
  state.done = true;
  return status;
}

/// One pass over all transfers in their order.
Status ShmCommunicator::progress(std::span<const MtcTransfer> transfers,
                                 int &remaining) {
  remaining = 0;
  for (size_t i = 0; i < transfers.size(); ++i) {
    Transfer &state = transfers_[i];
    if (!state.done)
      MTC_RETURN_IF_ERROR(transfers[i].is_send
                              ? progressSend(transfers[i], state)
                              : progressReceive(transfers[i], state));
    remaining += !state.done;
  }
  return Status::okay();
}

Status ShmCommunicator::exchange(std::span<const MtcTransfer> transfers) {
  if (!failure_.ok())
    return failure_;
  if (control_.aborted())
    return fail(control_.abortStatus());
  Status valid = comm::checkTransfers(rank_, mesh(), arenas_, transfers);
  if (!valid.ok())
    return fail(valid);
  startTransfers(transfers);
  comm::SharedEvent &event = control_.rank(rank_).event;
  for (;;) {
    // Read before looking at the rings: what comes later changes the event.
    uint32_t seen = event.value.load(std::memory_order_acquire);
    bool aborted = control_.aborted();
    int remaining = 0;
    Status status = progress(transfers, remaining);
    if (!status.ok())
      return fail(status);
    if (remaining == 0)
      return Status::okay();
    // The abort was seen before that pass, so no verdict of a peer was missed.
    if (aborted)
      return fail(control_.abortStatus());
    comm::waitForEvent(event, seen, control_.header().abortWord, spin_);
  }
}

} // namespace mtc::runtime
