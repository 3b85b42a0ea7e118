//===- hosts_communicator.h - shared memory inside hosts, MPI across ------===//
//
// A group whose members are all on this rank's host, and a transfer to a rank
// there, go through shared memory, all others over MPI. Both add in group-rank
// order, so where ranks are changes no bit.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_MPI_HOSTS_COMMUNICATOR_H
#define MTC_RUNTIME_COMM_MPI_HOSTS_COMMUNICATOR_H

#include "runtime/comm/comm.h"
#include "runtime/rendezvous/alarm.h"

#include <mutex>

namespace mtc::runtime {

class HostsCommunicator final : public Communicator {
public:
  /// `near` reaches the ranks of this host, those where `isNear` is true, and
  /// `far` all; both are of the same rank, and outlive this, as the alarm does.
  HostsCommunicator(Communicator &near, Communicator &far, Alarm &alarm,
                    const Mesh &mesh, int rank,
                    const std::vector<bool> &isNear);
  ~HostsCommunicator() override;

  Status collective(const CollectiveCall &call, void *buffer,
                    SumReader *reader) override;
  Status post(std::span<const MtcTransfer> transfers) override;
  Status wait(std::span<const MtcTransfer> transfers) override;
  Status worldFailure() const override {
    return alarm_.raised() ? alarm_.verdict() : near_.worldFailure();
  }
  void abort() override;
  void finish() override;
  std::array<int64_t, MTC_GROUP_COUNT + 1> bytesMoved() const override;

private:
  using Rows = std::span<const MtcTransfer>;
  /// Calls `post` or `wait` of the one or the other for rows that go the same
  /// way, one run of them after the other.
  Status forRuns(Rows rows, Status (Communicator::*call)(Rows));
  bool isNear(const MtcTransfer &row) const;
  /// What this rank says of a call that ended so, from then on.
  Status settle(Status status, bool near);
  Status failure();

  Communicator &near_, &far_;
  Alarm &alarm_;
  int64_t stages_;
  std::array<bool, MTC_GROUP_COUNT> nearGroup_{};
  std::vector<bool> nearStage_; ///< of the ranks that this one sends to
  std::mutex lock_;
  Status failure_; ///< guarded by the lock
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_COMM_MPI_HOSTS_COMMUNICATOR_H
