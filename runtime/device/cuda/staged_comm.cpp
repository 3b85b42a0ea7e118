//===- staged_comm.cpp - a GPU's buffers in a host's calls ----------------===//

#include "runtime/device/cuda/staged_comm.h"

#include "runtime/comm/reduce.h"

#include <algorithm>

using mtc::runtime::CollectiveCall;
using mtc::runtime::CollectiveKind;
using mtc::runtime::Status;

namespace mtc::cuda {

StagedCommunicator::StagedCommunicator(CudaStream &stream,
                                       runtime::Communicator &backend,
                                       const runtime::ArenaViews &device,
                                       const runtime::ArenaViews &mirror,
                                       const Mesh &mesh, int rank)
    : stream_(stream), backend_(backend), device_(device), mirror_(mirror) {
  for (const GroupInfo &group : kGroups) {
    std::vector<int> members = mesh.members(rank, group.id);
    auto own = std::ranges::find(members, rank);
    if (own != members.end())
      places_[group.id] = {static_cast<int64_t>(members.size()),
                           own - members.begin()};
  }
}

void *StagedCommunicator::hostOf(const Range &range) const {
  return static_cast<char *>(mirror_[range.at.arena].base) + range.at.offset;
}

Status StagedCommunicator::toHost(const Range &range) {
  MTC_RETURN_IF_ERROR(stream_.copyOut(range.at, hostOf(range), range.bytes));
  return stream_.wait(stream_.record());
}

Status StagedCommunicator::fromHost(const Range &range) {
  MTC_RETURN_IF_ERROR(stream_.copyIn(range.at, hostOf(range), range.bytes));
  // The next call may write over the mirror.
  return stream_.wait(stream_.record());
}

bool StagedCommunicator::find(const void *buffer, int64_t bytes,
                              Range &out) const {
  auto [arena, offset] = runtime::comm::placementIn(device_, buffer, bytes);
  out = {{static_cast<MtcArena>(arena), offset}, bytes};
  return arena >= 0;
}

/// What a member gives, and what it gets, of a buffer of so many bytes.
static std::pair<bool, bool> givesAndGetsAll(CollectiveKind kind) {
  return {kind != CollectiveKind::allGather,
          kind != CollectiveKind::reduceScatter};
}

Status StagedCommunicator::collective(const CollectiveCall &call, void *buffer,
                                      runtime::SumReader *reader) {
  MTC_RETURN_IF_ERROR(runtime::comm::checkUnread(reader));
  if (call.kind == CollectiveKind::barrier)
    return backend_.collective(call, nullptr, nullptr);
  const Place &place = places_[call.group];
  if (place.size == 1) // it has what it would get
    return stream_.failure();
  int64_t part = call.count * runtime::comm::elementBytes(call.dtype);
  bool parted = call.kind != CollectiveKind::allReduce;
  Range whole;
  if (!find(buffer, parted ? part * place.size : part, whole))
    return backend_.collective(call, buffer, nullptr);
  Range own = whole;
  if (parted) {
    own.at.offset += part * place.own;
    own.bytes = part;
  }
  auto [gives, gets] = givesAndGetsAll(call.kind);
  MTC_RETURN_IF_ERROR(toHost(gives ? whole : own));
  MTC_RETURN_IF_ERROR(backend_.collective(call, hostOf(whole), nullptr));
  return fromHost(gets ? whole : own);
}

Status StagedCommunicator::post(std::span<const MtcTransfer> transfers) {
  for (const MtcTransfer &t : transfers)
    if (t.is_send)
      MTC_RETURN_IF_ERROR(
          toHost({{static_cast<MtcArena>(t.arena), t.offset}, t.bytes}));
  return backend_.post(transfers);
}

Status StagedCommunicator::wait(std::span<const MtcTransfer> transfers) {
  MTC_RETURN_IF_ERROR(backend_.wait(transfers));
  for (const MtcTransfer &t : transfers)
    if (!t.is_send)
      MTC_RETURN_IF_ERROR(
          fromHost({{static_cast<MtcArena>(t.arena), t.offset}, t.bytes}));
  return Status::okay();
}

} // namespace mtc::cuda
