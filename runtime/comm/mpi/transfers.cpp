//===- transfers.cpp - both sides agree, then the bytes go ----------------===//
//
// Each side tells the other what it has posted, so that both know of a
// mismatch, and the data go only once there is a place for them. A channel's
// data go in the order of its transfers.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/mpi/mpi_communicator.h"

#include <algorithm>

namespace mtc::runtime {

namespace {

bool isAmong(const MtcTransfer *row, std::span<const MtcTransfer> rows) {
  std::less<> before;
  return !before(row, rows.data()) && before(row, rows.data() + rows.size());
}

} // namespace

Status MpiCommunicator::begin(const MtcTransfer &row) {
  if (unused_.empty())
    unused_.emplace_back();
  open_.splice(open_.end(), unused_, unused_.begin());
  Transfer &t = open_.back();
  t = {};
  t.row = &row;
  t.peer = mesh_.moved(rank_, MTC_AXIS_PP, row.peer_stage);
  bool sends = row.is_send != 0;
  t.sequence = begun_[size_t(row.peer_stage)][sends]++;
  t.own = {row.tag, row.bytes};
  ++unmoved_;
  MTC_RETURN_IF_ERROR(wire_.receive(&t.other, sizeof t.other, t.peer,
                                    sends ? comm::kTagExpected : comm::kTagSent,
                                    t.hearOther));
  return wire_.send(&t.own, sizeof t.own, t.peer,
                    sends ? comm::kTagSent : comm::kTagExpected, t.sayOwn);
}

/// Whether what is sent is what is expected. Both sides find it out.
Status MpiCommunicator::agree(const Transfer &t) {
  bool sends = t.row->is_send != 0;
  Status status = sends ? comm::checkTransfer(rank_, t.own, t.peer, t.other)
                        : comm::checkTransfer(t.peer, t.other, rank_, t.own);
  if (!status.ok()) {
    failure_ = status;
    int sides[] = {rank_, t.peer};
    alarm_.raise(status, sides);
  }
  return status;
}

/// Gives the next message of a transfer to MPI, in the order of the channel.
Status MpiCommunicator::move(Transfer &t) {
  const MtcTransfer &row = *t.row;
  bool sends = row.is_send != 0;
  uint64_t &given = given_[size_t(row.peer_stage)][sends];
  if (given != t.sequence)
    return Status::okay();
  int64_t bytes = std::min(row.bytes - t.moved, kMostMessageBytes);
  char *data = static_cast<char *>(arenas_[size_t(row.arena)].base) +
               row.offset + t.moved;
  t.moved += bytes;
  given += t.moved == row.bytes;
  t.moving = bytes > 0;
  if (bytes == 0)
    return Status::okay();
  return sends ? wire_.send(data, bytes, t.peer, comm::kTagBytes, t.data)
               : wire_.receive(data, bytes, t.peer, comm::kTagBytes, t.data);
}

Status MpiCommunicator::advance(Transfer &t) {
  if (!t.said)
    MTC_RETURN_IF_ERROR(wire_.test(t.sayOwn, t.said));
  if (!t.heard) {
    MTC_RETURN_IF_ERROR(wire_.test(t.hearOther, t.heard));
    if (!t.heard)
      return Status::okay();
    MTC_RETURN_IF_ERROR(agree(t));
  }
  uint64_t given = given_[size_t(t.row->peer_stage)][t.row->is_send != 0];
  if (!t.moving && given == t.sequence)
    MTC_RETURN_IF_ERROR(move(t));
  if (t.moving) {
    bool arrived = false;
    MTC_RETURN_IF_ERROR(wire_.test(t.data, arrived));
    t.moving = !arrived;
  }
  given = given_[size_t(t.row->peer_stage)][t.row->is_send != 0];
  t.done = t.said && !t.moving && given > t.sequence;
  unmoved_ -= t.done;
  return Status::okay();
}

Status MpiCommunicator::advanceAll() {
  if (unmoved_ > 0)
    for (Transfer &t : open_)
      if (!t.done)
        if (Status status = advance(t); !status.ok()) {
          if (failure_.ok())
            failure_ = status;
          return failure_;
        }
  return Status::okay();
}

Status MpiCommunicator::post(std::span<const MtcTransfer> transfers) {
  if (Status known = failure(); !known.ok())
    return known;
  if (alarm_.raised())
    return fail(alarm_.verdict(), {});
  Status status = comm::checkTransfers(rank_, mesh_, arenas_, transfers);
  if (!status.ok())
    return fail(std::move(status), {&rank_, 1});
  {
    std::lock_guard held(wire_.lock());
    for (const MtcTransfer &row : transfers)
      if (status.ok())
        status = begin(row);
  }
  posted_.notify_one();
  return status.ok() ? status : fail(std::move(status), {&rank_, 1});
}

size_t MpiCommunicator::undone(std::span<const MtcTransfer> transfers) const {
  return size_t(std::ranges::count_if(open_, [&](const Transfer &t) {
    return !t.done && isAmong(t.row, transfers);
  }));
}

void MpiCommunicator::forget(std::span<const MtcTransfer> transfers) {
  for (auto it = open_.begin(); it != open_.end();) {
    auto next = std::next(it);
    if (isAmong(it->row, transfers)) {
      moved_[MTC_GROUP_COUNT] += it->row->is_send ? it->row->bytes : 0;
      unused_.splice(unused_.end(), open_, it);
    }
    it = next;
  }
}

Status MpiCommunicator::wait(std::span<const MtcTransfer> transfers) {
  Waiting waiting(*this);
  Status status;
  for (comm::Patience patience;; patience.pause()) {
    bool raised = alarm_.raised();
    std::unique_lock held(wire_.lock());
    MTC_RETURN_IF_ERROR(failure_);
    size_t known = size_t(std::ranges::count_if(
        open_, [&](const Transfer &t) { return isAmong(t.row, transfers); }));
    status = known == transfers.size()
                 ? advanceAll()
                 : comm::unposted(rank_, transfers.size(), known);
    if (status.ok() && undone(transfers) == 0) {
      forget(transfers);
      return Status::okay();
    }
    held.unlock();
    if (!status.ok())
      return fail(std::move(status), {&rank_, 1});
    if (raised)
      return fail(alarm_.verdict(), {});
  }
}

/// Transfers take place whatever the rank does meanwhile.
void MpiCommunicator::keepGoing() {
  constexpr std::chrono::microseconds kPause{100};
  constexpr std::chrono::milliseconds kWhileOthersLook{2};
  std::unique_lock held(wire_.lock());
  while (!ending_) {
    if (unmoved_ == 0 || !failure_.ok() || alarm_.raised())
      posted_.wait(held);
    else if (waiting_ > 0)
      posted_.wait_for(held, kWhileOthersLook);
    else if (advanceAll().ok() && unmoved_ > 0)
      posted_.wait_for(held, kPause);
  }
}

} // namespace mtc::runtime
