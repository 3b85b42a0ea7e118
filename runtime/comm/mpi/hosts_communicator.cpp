//===- hosts_communicator.cpp - shared memory inside hosts, MPI across ----===//
//
// Whoever fails tells its host by shared memory and all hosts by the alarm, and
// the alarm breaks up what waits in shared memory. So a rank may learn of a
// failure there first, and then asks the alarm who it was.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/mpi/hosts_communicator.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace mtc::runtime {

HostsCommunicator::HostsCommunicator(Communicator &near, Communicator &far,
                                     Alarm &alarm, const Mesh &mesh, int rank,
                                     const std::vector<bool> &isNear)
    : near_(near), far_(far), alarm_(alarm), stages_(mesh.stages()) {
  for (int kind = 0; kind < MTC_GROUP_COUNT; ++kind)
    nearGroup_[size_t(kind)] =
        std::ranges::all_of(mesh.members(rank, MtcGroup(kind)),
                            [&](int member) { return isNear[size_t(member)]; });
  for (int stage = 0; stage < mesh.stages(); ++stage)
    nearStage_.push_back(isNear[size_t(mesh.moved(rank, MTC_AXIS_PP, stage))]);
  alarm_.listen([this] { near_.abort(); });
}

HostsCommunicator::~HostsCommunicator() { alarm_.listen({}); }

Status HostsCommunicator::failure() {
  std::lock_guard held(lock_);
  return failure_;
}

Status HostsCommunicator::settle(Status status, bool near) {
  if (status.ok())
    return status;
  // By then the alarm that a peer's failure raises is here, unless that peer
  // vanished between the two: then this rank raises it.
  constexpr std::chrono::seconds kLatest{2};
  constexpr std::chrono::milliseconds kLook{1};
  bool ofAPeer = near && status.code() == StatusCode::peerDied;
  auto end = std::chrono::steady_clock::now() + kLatest;
  while (ofAPeer && !alarm_.raised() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(kLook);
  if (ofAPeer && alarm_.raised())
    status = alarm_.verdict();
  {
    std::lock_guard held(lock_);
    if (failure_.ok())
      failure_ = status;
    status = failure_;
  }
  alarm_.raise(status, {});
  near_.abort();
  far_.abort();
  return status;
}

bool HostsCommunicator::isNear(const MtcTransfer &row) const {
  // A stage that does not exist is for a backend to reject.
  return row.peer_stage >= 0 && row.peer_stage < stages_ &&
         nearStage_[size_t(row.peer_stage)];
}

Status HostsCommunicator::forRuns(Rows rows,
                                  Status (Communicator::*call)(Rows)) {
  MTC_RETURN_IF_ERROR(failure());
  while (!rows.empty()) {
    bool near = isNear(rows.front());
    auto end = std::ranges::find_if(
        rows, [&](const MtcTransfer &row) { return isNear(row) != near; });
    Rows run = rows.first(size_t(end - rows.begin()));
    MTC_RETURN_IF_ERROR(settle(((near ? near_ : far_).*call)(run), near));
    rows = rows.subspan(run.size());
  }
  return Status::okay();
}

Status HostsCommunicator::collective(const CollectiveCall &call, void *buffer,
                                     SumReader *reader) {
  MTC_RETURN_IF_ERROR(failure());
  bool known = call.group >= 0 && call.group < MTC_GROUP_COUNT;
  bool near = known && nearGroup_[size_t(call.group)];
  return settle((near ? near_ : far_).collective(call, buffer, reader), near);
}

Status HostsCommunicator::post(Rows rows) {
  return forRuns(rows, &Communicator::post);
}

/// One way after the other: what was posted takes place meanwhile.
Status HostsCommunicator::wait(Rows rows) {
  return forRuns(rows, &Communicator::wait);
}

void HostsCommunicator::abort() {
  far_.abort();
  near_.abort();
}

void HostsCommunicator::finish() {
  near_.finish();
  far_.finish();
}

std::array<int64_t, MTC_GROUP_COUNT + 1> HostsCommunicator::bytesMoved() const {
  auto sum = near_.bytesMoved(), far = far_.bytesMoved();
  for (size_t i = 0; i < sum.size(); ++i)
    sum[i] += far[i];
  return sum;
}

} // namespace mtc::runtime
