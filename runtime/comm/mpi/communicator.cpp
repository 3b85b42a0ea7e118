//===- communicator.cpp - a rank, its groups, its end ---------------------===//

#include "runtime/comm/mpi/mpi_communicator.h"

#include <algorithm>

namespace mtc::runtime {

MpiCommunicator::MpiCommunicator(const MpiEngine &engine, Alarm &alarm,
                                 const Mesh &mesh, int rank,
                                 const ArenaViews &arenas)
    : wire_(engine), alarm_(alarm), mesh_(mesh), rank_(rank), arenas_(arenas),
      begun_(size_t(mesh.stages())), given_(size_t(mesh.stages())) {
  makeGroups();
  thread_ = std::thread([this] { keepGoing(); });
}

MpiCommunicator::~MpiCommunicator() {
  {
    std::lock_guard held(wire_.lock());
    ending_ = true;
  }
  posted_.notify_all();
  thread_.join();
}

void MpiCommunicator::makeGroups() {
  for (int kind = 0; kind < MTC_GROUP_COUNT; ++kind) {
    Group &group = groups_[size_t(kind)];
    group.members = mesh_.members(rank_, MtcGroup(kind));
    size_t size = group.members.size();
    auto self = std::ranges::find(group.members, rank_);
    group.self = int(self - group.members.begin());
    if (size < 2)
      continue;
    group.said.resize(size * size_t(kSlotBytes));
    group.records.resize(size);
    group.inputs.resize(size);
    group.batch.reserve(4 * size);
  }
}

Status MpiCommunicator::ask(std::span<float> values) {
  int64_t moved = moved_[MTC_GROUP_ALL];
  Status status = allReduce(MTC_GROUP_ALL, MTC_MAX, MTC_F32, values.data(),
                            int64_t(values.size()));
  moved_[MTC_GROUP_ALL] = moved;
  return status;
}

void MpiCommunicator::abort() {
  // From here on no message of this rank goes on: its memory may go.
  (void)fail(
      {StatusCode::peerDied, "rank " + std::to_string(rank_) + " aborted"},
      {&rank_, 1});
}

Status MpiCommunicator::fail(Status status, std::span<const int> members) {
  {
    std::lock_guard held(wire_.lock());
    if (failure_.ok())
      failure_ = std::move(status);
  }
  Status first = failure();
  alarm_.raise(first, members);
  return first;
}

Status MpiCommunicator::failure() {
  std::lock_guard held(wire_.lock());
  return failure_;
}

} // namespace mtc::runtime
