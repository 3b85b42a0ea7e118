//===- collectives.cpp - in place, in group-rank order --------------------===//
//
// Small calls go through the slots: post record and payload, one barrier, and
// everybody computes everything. Large ones stay where they are: each member
// reduces its piece over all members and writes it to all of them, which is a
// reduce-scatter and an all-gather in one pass. Both add in the same order.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/reduce.h"
#include "runtime/comm/shm/shm_communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mtc::runtime {

using comm::CallRecord;

namespace {

// Pieces begin at multiples of this, so that members share no cache line.
constexpr int64_t kPieceElements = 64;

struct Piece {
  int64_t first, count;
};

Piece pieceOf(int64_t count, int self, int size) {
  int64_t per = (count + size - 1) / size;
  per = (per + kPieceElements - 1) / kPieceElements * kPieceElements;
  int64_t first = std::min(count, per * self);
  return {first, std::min(count - first, per)};
}

} // namespace

Status ShmCommunicator::groupBarrier(MtcGroup kind, Group &group) {
  comm::GroupSync &sync = control_.sync(kind, group.members[0]);
  std::atomic<uint32_t> &done = sync.generation.value;
  uint32_t seen = done.load(std::memory_order_acquire);
  int spin = looks(); // before others are let on: they may look where this is
  if (sync.arrived.fetch_add(1) + 1 == group.members.size()) {
    sync.arrived.store(0);
    comm::signalEvent(sync.generation);
    return Status::okay();
  }
  while (done.load(std::memory_order_acquire) == seen) {
    // A member that got through may have aborted since: look once more.
    if (control_.aborted() && done.load() == seen)
      return control_.abortStatus();
    comm::waitForEvent(sync.generation, seen, control_.header().abortWord,
                       spin);
  }
  return Status::okay();
}

/// Waits for all members and compares what they call.
Status ShmCommunicator::joinCall(Group &group, const CallRecord &call) {
  MTC_RETURN_IF_ERROR(groupBarrier(call.group, group));
  for (size_t m = 0; m < group.members.size(); ++m)
    group.records[m] =
        control_.slot(call.group, group.members[m], call.sequence).call;
  return comm::checkAgreement(group.members, group.records);
}

Status ShmCommunicator::runSmall(const CallRecord &call, Group &group,
                                 char *buffer) {
  size_t size = group.members.size();
  for (size_t m = 0; m < size; ++m)
    group.inputs[m] =
        control_.slot(call.group, group.members[m], call.sequence).payload;
  comm::combine(call, group.self, group.inputs, buffer);
  return Status::okay();
}

Status ShmCommunicator::resolveMembers(const CallRecord &call, Group &group,
                                       char *buffer, int64_t bytes) {
  for (size_t m = 0; m < group.members.size(); ++m) {
    int rank = group.members[m];
    comm::Placement placement =
        control_.slot(call.group, rank, call.sequence).placement;
    MTC_RETURN_IF_ERROR(resolve(rank, placement, bytes, group.outputs[m]));
    group.inputs[m] = group.outputs[m];
  }
  group.outputs[group.self] = buffer;
  group.inputs[group.self] = buffer;
  return Status::okay();
}

Status ShmCommunicator::runInPlace(const CallRecord &call, Group &group,
                                   char *buffer) {
  int size = int(group.members.size());
  int64_t width = comm::elementBytes(call.dtype);
  int64_t bytes = comm::bufferElements(call, size) * width;
  MTC_RETURN_IF_ERROR(resolveMembers(call, group, buffer, bytes));
  if (call.kind == CollectiveKind::allReduce) {
    Piece piece = pieceOf(call.count, group.self, size);
    comm::reduceInOrder(call.reduce, call.dtype, group.inputs, group.outputs,
                        piece.first, piece.count);
  } else if (call.kind == CollectiveKind::reduceScatter) {
    comm::reduceInOrder(MTC_SUM, call.dtype, group.inputs,
                        {&group.outputs[group.self], 1},
                        group.self * call.count, call.count);
  } else {
    int64_t part = call.count * width;
    bool stream = comm::leavesCaches(size * bytes);
    for (int m = 0; m < size; ++m)
      if (m != group.self)
        comm::copyBytes(buffer + m * part,
                        static_cast<const char *>(group.inputs[m]) + m * part,
                        part, stream);
  }
  return groupBarrier(call.group, group);
}

Status ShmCommunicator::collective(const CollectiveCall &asked, void *buffer) {
  CallRecord call{asked};
  if (Status known = failure(); !known.ok())
    return known;
  if (control_.aborted())
    return fail(control_.abortStatus());
  if (call.group < 0 || call.group >= MTC_GROUP_COUNT ||
      groups_[call.group].members.empty())
    return fail({StatusCode::usage,
                 fmt::format("rank {} calls {} on group {}, of which it is not "
                             "a member",
                             rank_, describe(call), groupName(call.group))});
  Group &group = groups_[call.group];
  int size = int(group.members.size());
  call.sequence = ++group.calls;
  if (size == 1) {
    Status supported = comm::checkSupported(call);
    return supported.ok() ? supported : fail(supported);
  }

  auto *data = static_cast<char *>(buffer);
  int64_t payload = comm::payloadBytes(call, size);
  int64_t width = comm::elementBytes(call.dtype);
  int64_t bytes = comm::bufferElements(call, size) * width;
  bool small = payload <= kAnywhereBytes;
  comm::MemberSlot &slot = control_.slot(call.group, rank_, call.sequence);
  slot.call = call;
  slot.placement =
      small ? comm::Placement{} : comm::placementIn(arenas_, buffer, bytes);
  if (small && payload > 0) {
    int64_t own =
        call.kind == CollectiveKind::allGather ? group.self * payload : 0;
    std::memcpy(slot.payload, data + own, payload);
  }
  Status status = joinCall(group, call);
  if (status.ok())
    status =
        small ? runSmall(call, group, data) : runInPlace(call, group, data);
  if (!status.ok())
    return fail(status);
  moved_[call.group] += bytes;
  return status;
}

} // namespace mtc::runtime
