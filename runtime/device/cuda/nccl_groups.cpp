//===- nccl_groups.cpp - a communicator of NCCL for each group ------------===//

#include "runtime/device/cuda/nccl_groups.h"

#include "runtime/device/cuda/version.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {
namespace {

/// What each rank tells all others before there is a communicator.
struct Greeting {
  int32_t version;
  NcclId id; ///< that of rank 0 counts
};
static_assert(sizeof(Greeting) % sizeof(float) == 0);

NcclGroup placeIn(MtcGroup group, const Mesh &mesh, int rank) {
  std::vector<int> members = mesh.members(rank, group);
  auto own = std::ranges::find(members, rank);
  if (own == members.end() || members.size() == 1)
    return {};
  return {nullptr, static_cast<int64_t>(members.size()), own - members.begin()};
}

} // namespace

/// Communicators that are aborted know nothing any more.
void NcclGroups::deregister() {
  for (auto [comm, handle] : registered_)
    if (!aborted_)
      (void)nccl_->deregister(comm, handle);
  registered_.clear();
}

/// By force all at once, in a group, as NCCL takes it from 2.22 on: an abort
/// frees memory, for which it may wait for all that the GPU was given, a call
/// of another communicator that hangs among it.
void NcclGroups::end() {
  if (!all_)
    return;
  deregister();
  const bool byForce = aborted_;
  auto end = byForce ? nccl_->abort : nccl_->destroy;
  if (byForce)
    (void)nccl_->groupStart();
  for (NcclGroup &group : groups_)
    if (NcclHandle comm = std::exchange(group.comm, nullptr);
        comm && comm != all_)
      (void)end(comm);
  (void)end(std::exchange(all_, nullptr));
  if (byForce)
    (void)nccl_->groupEnd();
}

Status NcclGroups::agree(runtime::Communicator &control, int ranks, int rank,
                         NcclId &id) const {
  std::vector<Greeting> all(static_cast<size_t>(ranks));
  Greeting &own = all[static_cast<size_t>(rank)];
  MTC_RETURN_IF_ERROR(
      nccl_->check(nccl_->version(&own.version), "ncclGetVersion"));
  if (rank == 0)
    MTC_RETURN_IF_ERROR(
        nccl_->check(nccl_->makeId(&own.id), "ncclGetUniqueId"));
  MTC_RETURN_IF_ERROR(control.allGather(MTC_GROUP_ALL, MTC_F32, all.data(),
                                        sizeof(Greeting) / sizeof(float)));
  auto other = std::ranges::find_if(all, [&](const Greeting &greeting) {
    return greeting.version != all[0].version;
  });
  if (other != all.end())
    return {StatusCode::communication,
            fmt::format("expected one version of NCCL, found {} on rank 0 and "
                        "{} on rank {}; install the same on all hosts",
                        versionName(all[0].version),
                        versionName(other->version), other - all.begin())};
  id = all[0].id;
  return Status::okay();
}

/// All ranks take part; who is in no such group gets none.
Status NcclGroups::split(MtcGroup group, const Mesh &mesh, int rank) {
  NcclGroup &place = groups_[group];
  int color = kNcclNoColor;
  if (place.size > 1)
    color = mesh.members(rank, group).front();
  NcclHandle made = nullptr;
  MTC_RETURN_IF_ERROR(nccl_->check(
      nccl_->split(all_, color, static_cast<int>(place.own), &made, nullptr),
      "ncclCommSplit"));
  place.comm = made;
  return Status::okay();
}

/// Of groups with one communicator the first does it for all.
Status NcclGroups::registerWith(NcclHandle comm, std::span<std::byte> memory) {
  if (!comm || registered_.contains(comm))
    return Status::okay();
  void *handle = nullptr;
  MTC_RETURN_IF_ERROR(nccl_->check(
      nccl_->registerMemory(comm, memory.data(), memory.size(), &handle),
      "ncclCommRegister"));
  registered_[comm] = handle;
  return Status::okay();
}

Status NcclGroups::begin(int ranks, const NcclId &id, int rank) {
  NcclResult result = nccl_->init(&all_, ranks, id, rank);
  Status status = nccl_->check(result, "ncclCommInitRank");
  if (!status.ok())
    all_ = nullptr;
  if (result != kNcclInvalidUsage)
    return status;
  return {status.code(),
          status.message() +
              "; NCCL needs a GPU for each rank, with fewer of "
              "them let ranks talk through the host (--comm shm, "
              "over hosts mpi)"};
}

Status NcclGroups::open(const Nccl &nccl, runtime::Communicator &control,
                        const Mesh &mesh, int rank,
                        std::span<std::byte> memory) {
  nccl_ = &nccl;
  aborted_ = true; // until all is well: the others may wait for this rank
  const auto ranks = static_cast<int>(mesh.worldSize());
  NcclId id{};
  MTC_RETURN_IF_ERROR(agree(control, ranks, rank, id));
  MTC_RETURN_IF_ERROR(begin(ranks, id, rank));
  for (const GroupInfo &group : kGroups) {
    groups_[group.id] = placeIn(group.id, mesh, rank);
    // Rank 0 is in each group, and all of one kind have one size.
    int64_t size = placeIn(group.id, mesh, 0).size;
    if (size == ranks)
      groups_[group.id].comm = all_;
    else if (size > 1)
      MTC_RETURN_IF_ERROR(split(group.id, mesh, rank));
    if (!group.along(MTC_AXIS_PP) || mesh.stages() == 1)
      MTC_RETURN_IF_ERROR(registerWith(groups_[group.id].comm, memory));
  }
  aborted_ = false;
  return Status::okay();
}

Status NcclGroups::asyncError() const {
  for (const NcclGroup &group : groups_) {
    NcclResult found = 0;
    if (!group.comm)
      continue;
    MTC_RETURN_IF_ERROR(nccl_->check(nccl_->asyncError(group.comm, &found),
                                     "ncclCommGetAsyncError"));
    MTC_RETURN_IF_ERROR(nccl_->check(found, "NCCL"));
  }
  return Status::okay();
}

} // namespace mtc::cuda
