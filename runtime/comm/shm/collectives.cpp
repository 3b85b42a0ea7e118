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
using comm::Piece;

namespace {

/// What is told at once: elements that a core's cache keeps.
constexpr int64_t kToldElements = 16384;

/// Sums a piece over all inputs.
void reducePiece(const CallRecord &call, std::span<const void *const> inputs,
                 std::span<void *const> outputs, Piece piece,
                 SumReader *reader) {
  int64_t most = reader ? kToldElements : piece.count;
  for (int64_t done = 0; done < piece.count; done += most) {
    int64_t first = piece.first + done,
            count = std::min(most, piece.count - done);
    comm::reduceInOrder(call.reduce, call.dtype, inputs, outputs, first, count);
    if (reader)
      reader->made(first, count);
  }
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
                                 char *buffer, SumReader *reader) {
  size_t size = group.members.size();
  for (size_t m = 0; m < size; ++m)
    group.inputs[m] =
        control_.slot(call.group, group.members[m], call.sequence).payload;
  comm::combine(call, group.self, group.inputs, buffer);
  comm::tellPiece(call, group.self, int(size), reader);
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
                                   char *buffer, SumReader *reader) {
  int size = int(group.members.size());
  int64_t width = comm::elementBytes(call.dtype);
  int64_t bytes = comm::bufferElements(call, size) * width;
  MTC_RETURN_IF_ERROR(resolveMembers(call, group, buffer, bytes));
  Piece piece = comm::pieceOf(call, group.self, size);
  if (call.kind == CollectiveKind::allReduce) {
    reducePiece(call, group.inputs, group.outputs, piece, reader);
  } else if (call.kind == CollectiveKind::reduceScatter) {
    reducePiece(call, group.inputs, {&group.outputs[group.self], 1}, piece,
                reader);
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

Status ShmCommunicator::collective(const CollectiveCall &asked, void *buffer,
                                   SumReader *reader) {
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
    if (!supported.ok())
      return fail(supported);
    comm::tellPiece(call, 0, 1, reader);
    return supported;
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
    status = small ? runSmall(call, group, data, reader)
                   : runInPlace(call, group, data, reader);
  if (!status.ok())
    return fail(status);
  moved_[call.group] += bytes;
  return status;
}

} // namespace mtc::runtime
