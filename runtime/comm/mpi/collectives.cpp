//===- collectives.cpp - bytes by MPI, sums in group-rank order -----------===//
//
// Members send each other a record of the call, with the payload where it is
// small: then everybody computes everything. Large buffers are cut into a piece
// per member, which gets it from all others, adds and sends the sum to all:
// each byte goes over a member's link twice each way, the least there is. Long
// pieces go in segments, so that what is received fits a buffer of a fixed
// size.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/mpi/mpi_communicator.h"
#include "runtime/comm/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mtc::runtime {

using comm::CallRecord;
using comm::Piece;

namespace {

constexpr int64_t kSegmentBytes = 256 << 10;
/// Of all members' segments together.
constexpr int64_t kMostScratchBytes = 16 << 20;
constexpr int64_t kLeastSegmentBytes = 16 << 10;

int64_t segmentBytes(int size) {
  return std::clamp(kMostScratchBytes / size, kLeastSegmentBytes,
                    kSegmentBytes);
}

Piece segmentOf(const CallRecord &call, int m, int size, int64_t round) {
  Piece piece = comm::pieceOf(call, m, size);
  int64_t most = segmentBytes(size) / comm::elementBytes(call.dtype);
  int64_t skipped = std::min(piece.count, round * most);
  return {piece.first + skipped, std::min(most, piece.count - skipped)};
}

} // namespace

/// Waits for the messages of a call; transfers go on meanwhile.
Status MpiCommunicator::await(Group &group) {
  Waiting waiting(*this);
  for (comm::Patience patience;; patience.pause()) {
    // Seen before the look: what had arrived by then counts.
    bool raised = alarm_.raised();
    bool done = false;
    {
      std::lock_guard held(wire_.lock());
      MTC_RETURN_IF_ERROR(failure_);
      MTC_RETURN_IF_ERROR(wire_.test(group.batch, done));
      if (done)
        return Status::okay();
      MTC_RETURN_IF_ERROR(advanceAll());
    }
    if (raised)
      return alarm_.verdict();
  }
}

/// Waits for all members and compares what they call.
Status MpiCommunicator::sayAndHear(Group &group, const CallRecord &call,
                                   const char *payload, int64_t bytes) {
  char *own = group.slot(group.self);
  std::memcpy(own, &call, sizeof call);
  if (bytes > 0)
    std::memcpy(own + sizeof call, payload, size_t(bytes));
  {
    std::lock_guard held(wire_.lock());
    for (int step = 1; step < group.size(); ++step) {
      int to = (group.self + step) % group.size();
      int from = (group.self + group.size() - step) % group.size();
      int tag = comm::kTagCalls + call.group;
      MTC_RETURN_IF_ERROR(wire_.receive(group.slot(from), kSlotBytes,
                                        group.members[size_t(from)], tag,
                                        group.batch));
      MTC_RETURN_IF_ERROR(wire_.send(own, int64_t(sizeof call) + bytes,
                                     group.members[size_t(to)], tag,
                                     group.batch));
    }
  }
  MTC_RETURN_IF_ERROR(await(group));
  for (int m = 0; m < group.size(); ++m)
    std::memcpy(&group.records[size_t(m)], group.slot(m), sizeof(CallRecord));
  return comm::checkAgreement(group.members, group.records);
}

Status MpiCommunicator::runSmall(const CallRecord &call, Group &group,
                                 char *buffer) {
  for (int m = 0; m < group.size(); ++m)
    group.inputs[size_t(m)] = group.slot(m) + sizeof(CallRecord);
  comm::combine(call, group.self, group.inputs, buffer);
  return Status::okay();
}

/// A segment of this member's piece becomes the sum of all.
Status MpiCommunicator::reduceSegment(const CallRecord &call, Group &group,
                                      char *buffer, int64_t round) {
  int size = group.size(), tag = comm::kTagParts + call.group;
  int64_t width = comm::elementBytes(call.dtype);
  Piece mine = segmentOf(call, group.self, size, round);
  char *own = buffer + mine.first * width;
  {
    std::lock_guard held(wire_.lock());
    for (int step = 1; step < size; ++step) {
      int to = (group.self + step) % size;
      int from = (group.self + size - step) % size;
      Piece theirs = segmentOf(call, to, size, round);
      MTC_RETURN_IF_ERROR(wire_.receive(
          group.scratch.data() + from * segmentBytes(size), mine.count * width,
          group.members[size_t(from)], tag, group.batch));
      MTC_RETURN_IF_ERROR(
          wire_.send(buffer + theirs.first * width, theirs.count * width,
                     group.members[size_t(to)], tag, group.batch));
    }
  }
  MTC_RETURN_IF_ERROR(await(group));
  for (int m = 0; m < size; ++m)
    group.inputs[size_t(m)] =
        m == group.self ? own : group.scratch.data() + m * segmentBytes(size);
  void *output = own;
  if (mine.count > 0)
    comm::reduceInOrder(call.reduce, call.dtype, group.inputs, {&output, 1}, 0,
                        mine.count);
  return Status::okay();
}

/// The sum of it goes to all, and theirs come.
Status MpiCommunicator::gatherSegment(const CallRecord &call, Group &group,
                                      char *buffer, int64_t round) {
  int size = group.size(), tag = comm::kTagParts + call.group;
  int64_t width = comm::elementBytes(call.dtype);
  Piece mine = segmentOf(call, group.self, size, round);
  {
    std::lock_guard held(wire_.lock());
    for (int step = 1; step < size; ++step) {
      int to = (group.self + step) % size;
      int from = (group.self + size - step) % size;
      Piece theirs = segmentOf(call, from, size, round);
      MTC_RETURN_IF_ERROR(
          wire_.receive(buffer + theirs.first * width, theirs.count * width,
                        group.members[size_t(from)], tag, group.batch));
      MTC_RETURN_IF_ERROR(
          wire_.send(buffer + mine.first * width, mine.count * width,
                     group.members[size_t(to)], tag, group.batch));
    }
  }
  return await(group);
}

Status MpiCommunicator::gatherParts(const CallRecord &call, Group &group,
                                    char *buffer) {
  int size = group.size(), tag = comm::kTagParts + call.group;
  int64_t part = call.count * comm::elementBytes(call.dtype);
  {
    std::lock_guard held(wire_.lock());
    for (int step = 1; step < size; ++step) {
      int to = (group.self + step) % size;
      int from = (group.self + size - step) % size;
      MTC_RETURN_IF_ERROR(wire_.receive(buffer + from * part, part,
                                        group.members[size_t(from)], tag,
                                        group.batch));
      MTC_RETURN_IF_ERROR(wire_.send(buffer + group.self * part, part,
                                     group.members[size_t(to)], tag,
                                     group.batch));
    }
  }
  return await(group);
}

Status MpiCommunicator::runLarge(const CallRecord &call, Group &group,
                                 char *buffer, SumReader *reader) {
  int size = group.size();
  int64_t width = comm::elementBytes(call.dtype);
  int64_t bytes = comm::bufferElements(call, size) * width;
  comm::Placement placement = comm::placementIn(arenas_, buffer, bytes);
  int64_t arena =
      placement.arena >= 0 ? arenas_[size_t(placement.arena)].bytes : 0;
  MTC_RETURN_IF_ERROR(comm::checkPlacement(rank_, placement, arena, bytes));
  if (call.kind == CollectiveKind::allGather)
    return gatherParts(call, group, buffer);
  group.scratch.resize(size_t(size * segmentBytes(size)));
  // That of the first member is the longest.
  int64_t longest = comm::pieceOf(call, 0, size).count;
  int64_t most = segmentBytes(size) / width;
  for (int64_t round = 0; round * most < longest; ++round) {
    MTC_RETURN_IF_ERROR(reduceSegment(call, group, buffer, round));
    Piece made = segmentOf(call, group.self, size, round);
    if (reader && made.count > 0)
      reader->made(made.first, made.count);
    if (call.kind == CollectiveKind::allReduce)
      MTC_RETURN_IF_ERROR(gatherSegment(call, group, buffer, round));
  }
  return Status::okay();
}

Status MpiCommunicator::perform(const CallRecord &call, Group &group,
                                char *buffer, SumReader *reader) {
  int64_t payload = comm::payloadBytes(call, group.size());
  bool small = payload <= kAnywhereBytes;
  int64_t own =
      call.kind == CollectiveKind::allGather ? group.self * payload : 0;
  MTC_RETURN_IF_ERROR(sayAndHear(group, call, buffer + own,
                                 small ? std::max<int64_t>(payload, 0) : 0));
  if (!small)
    return runLarge(call, group, buffer, reader);
  MTC_RETURN_IF_ERROR(runSmall(call, group, buffer));
  comm::tellPiece(call, group.self, group.size(), reader);
  return Status::okay();
}

Status MpiCommunicator::collective(const CollectiveCall &asked, void *buffer,
                                   SumReader *reader) {
  CallRecord call{asked};
  if (Status known = failure(); !known.ok())
    return known;
  if (alarm_.raised())
    return fail(alarm_.verdict(), {});
  if (call.group < 0 || call.group >= MTC_GROUP_COUNT ||
      groups_[size_t(call.group)].members.empty())
    return fail({StatusCode::usage,
                 fmt::format("rank {} calls {} on group {}, of which it is not "
                             "a member",
                             rank_, describe(call), groupName(call.group))},
                {&rank_, 1});
  Group &group = groups_[size_t(call.group)];
  call.sequence = ++group.calls;
  Status status =
      group.size() == 1
          ? comm::checkSupported(call)
          : perform(call, group, static_cast<char *>(buffer), reader);
  if (!status.ok())
    return fail(std::move(status), group.members);
  if (group.size() == 1)
    comm::tellPiece(call, 0, 1, reader);
  if (group.size() > 1)
    moved_[size_t(call.group)] += comm::bufferElements(call, group.size()) *
                                  comm::elementBytes(call.dtype);
  return Status::okay();
}

} // namespace mtc::runtime
