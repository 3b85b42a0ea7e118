//===- control.cpp - the control segment ----------------------------------===//

#include "runtime/comm/shm/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace mtc::runtime::comm {

static_assert(std::atomic<int64_t>::is_always_lock_free);
static_assert(std::has_single_bit(unsigned(MTC_MOST_POSTED)));

namespace {

// Byte offsets of the sections, and of the end.
struct Sections {
  /// What lies before the rings does not depend on their slots.
  explicit Sections(const Mesh &mesh, uint32_t ringSlots = 0) {
    int64_t world = mesh.worldSize();
    ranks = sizeof(ControlHeader);
    syncs = ranks + world * int64_t(sizeof(RankBlock));
    slots = syncs + MTC_GROUP_COUNT * world * int64_t(sizeof(GroupSync));
    cores = slots + MTC_GROUP_COUNT * world * 2 * int64_t(sizeof(MemberSlot));
    rings = cores + (world * int64_t(sizeof(int32_t)) + 127) / 128 * 128;
    end = rings +
          world * mesh.stages() * ringSlots * int64_t(sizeof(TransferSlot));
  }
  int64_t ranks, syncs, slots, cores, rings, end;
};

template <typename T> T &at(char *base, int64_t section, int64_t index) {
  return reinterpret_cast<T *>(base + section)[index];
}

} // namespace

uint32_t Control::ringSlots(int64_t posted) {
  return std::bit_ceil(uint32_t(std::max<int64_t>(posted, 1)));
}

int64_t Control::bytes(const Mesh &mesh, uint32_t ringSlots) {
  return Sections(mesh, ringSlots).end;
}

Status Control::check(const ControlHeader &header, int64_t fileBytes) {
  bool sane = header.magic == kControlMagic && header.bytes == fileBytes;
  for (const AxisInfo &axis : kAxes)
    sane = sane && Mesh::isExtent(header.mesh[axis.id]);
  sane = sane && Mesh::isExtent(header.mesh.kvRanks()) &&
         header.mesh[MTC_AXIS_TP] % header.mesh.kvRanks() == 0;
  sane = sane && std::has_single_bit(header.ringSlots) &&
         header.ringSlots <= MTC_MOST_POSTED &&
         bytes(header.mesh, header.ringSlots) == fileBytes;
  if (sane)
    return Status::okay();
  return {StatusCode::usage,
          "the file descriptor of the control segment holds something else; "
          "start ranks with the launcher of the same version"};
}

ControlHeader &Control::header() const {
  return at<ControlHeader>(base_, 0, 0);
}

RankBlock &Control::rank(int rank) const {
  return at<RankBlock>(base_, Sections(mesh_).ranks, rank);
}

GroupSync &Control::sync(MtcGroup kind, int leader) const {
  return at<GroupSync>(base_, Sections(mesh_).syncs,
                       int64_t(kind) * mesh_.worldSize() + leader);
}

MemberSlot &Control::slot(MtcGroup kind, int rank, uint64_t call) const {
  int64_t index = int64_t(kind) * mesh_.worldSize() + rank;
  return at<MemberSlot>(base_, Sections(mesh_).slots,
                        2 * index + int64_t(call & 1));
}

std::atomic<int32_t> &Control::core(int rank) const {
  return at<std::atomic<int32_t>>(base_, Sections(mesh_).cores, rank);
}

TransferSlot &Control::transfer(int sourceRank, int targetStage,
                                uint32_t sequence) const {
  uint32_t slots = header().ringSlots;
  int64_t ring = int64_t(sourceRank) * mesh_.stages() + targetStage;
  return at<TransferSlot>(base_, Sections(mesh_).rings,
                          ring * slots + sequence % slots);
}

void Control::abort(AbortCause cause, int culprit) const {
  uint32_t none = 0;
  uint32_t word = uint32_t(cause) << 24 | uint32_t(culprit + 1);
  header().abortWord.compare_exchange_strong(none, word);
  for (int i = 0; i < mesh_.worldSize(); ++i) {
    wakeSleepers(rank(i).event);
    for (int kind = 0; kind < MTC_GROUP_COUNT; ++kind)
      wakeSleepers(sync(MtcGroup(kind), i).generation);
  }
}

Status Control::abortStatus() const {
  uint32_t word = header().abortWord.load();
  int culprit = int(word & 0xffffff) - 1;
  bool died = word >> 24 == uint32_t(AbortCause::died);
  if (culprit < 0)
    return {StatusCode::peerDied, "the launcher aborted the run"};
  return {StatusCode::peerDied,
          fmt::format("rank {} {}", culprit, died ? "died" : "aborted")};
}

} // namespace mtc::runtime::comm
