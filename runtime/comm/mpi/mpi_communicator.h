//===- mpi_communicator.h - one rank among processes of many hosts --------===//
//
// Members tell each other what they call before they touch data, and add what
// they receive themselves, in group-rank order, with the sums of all backends.
// Whoever waits lets all messages of the rank go on, and while nobody waits, a
// thread does it for transfers that were posted.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_MPI_MPI_COMMUNICATOR_H
#define MTC_RUNTIME_COMM_MPI_MPI_COMMUNICATOR_H

#include "runtime/comm/call.h"
#include "runtime/comm/comm.h"
#include "runtime/comm/mpi/wire.h"
#include "runtime/rendezvous/alarm.h"

#include <atomic>
#include <condition_variable>
#include <list>
#include <thread>

namespace mtc::runtime {

class MpiCommunicator final : public Communicator {
public:
  /// The engine is initialised, and its ranks are those of the mesh. Engine and
  /// alarm outlive it; so does the memory of the arenas, after a failure to the
  /// end of the process.
  MpiCommunicator(const MpiEngine &engine, Alarm &alarm, const Mesh &mesh,
                  int rank, const ArenaViews &arenas);
  ~MpiCommunicator() override;

  Status collective(const CollectiveCall &asked, void *buffer,
                    SumReader *reader) override;
  /// Each of `values` becomes the largest of all ranks. A collective that is
  /// not the plan's, and not counted as one.
  Status ask(std::span<float> values);
  Status post(std::span<const MtcTransfer> transfers) override;
  Status wait(std::span<const MtcTransfer> transfers) override;
  Status worldFailure() const override {
    return alarm_.raised() ? alarm_.verdict() : Status::okay();
  }
  void abort() override;
  void finish() override {} ///< the alarm's owner says it
  std::array<int64_t, MTC_GROUP_COUNT + 1> bytesMoved() const override {
    return moved_;
  }

private:
  struct Group {
    std::vector<int> members;
    int self = -1; ///< group rank
    uint64_t calls = 0;
    // Reused by each call, so that a step allocates nothing.
    std::vector<char> said;    ///< a slot per member: record and small payload
    std::vector<char> scratch; ///< of each member, a segment
    std::vector<comm::CallRecord> records;
    std::vector<const void *> inputs;
    comm::MpiBatch batch;

    int size() const { return int(members.size()); }
    char *slot(int member) { return said.data() + member * kSlotBytes; }
  };
  /// A transfer that nobody has waited for. It stays where it is.
  struct Transfer {
    const MtcTransfer *row = nullptr;
    int peer = -1;
    uint64_t sequence = 0; ///< among those of this channel
    comm::TransferSide own, other;
    MpiRequest sayOwn, hearOther, data;
    bool said = false, heard = false, moving = false, done = false;
    int64_t moved = 0; ///< bytes for which MPI was asked
  };
  static constexpr int64_t kSlotBytes =
      int64_t(sizeof(comm::CallRecord)) + kAnywhereBytes;

  /// While it lives a thread of the rank lets all messages go on.
  struct Waiting {
    explicit Waiting(MpiCommunicator &of) : of(of) { ++of.waiting_; }
    ~Waiting() { --of.waiting_; }
    MpiCommunicator &of;
  };

  void makeGroups();
  /// Remembers the first failure; `members` are told it as it is.
  Status fail(Status status, std::span<const int> members);
  Status failure();

  Status await(Group &group);
  Status sayAndHear(Group &group, const comm::CallRecord &call,
                    const char *payload, int64_t bytes);
  Status runSmall(const comm::CallRecord &call, Group &group, char *buffer);
  Status runLarge(const comm::CallRecord &call, Group &group, char *buffer,
                  SumReader *reader);
  Status reduceSegment(const comm::CallRecord &call, Group &group, char *buffer,
                       int64_t round);
  Status gatherSegment(const comm::CallRecord &call, Group &group, char *buffer,
                       int64_t round);
  Status gatherParts(const comm::CallRecord &call, Group &group, char *buffer);
  Status perform(const comm::CallRecord &call, Group &group, char *buffer,
                 SumReader *reader);

  // With the wire's lock held.
  Status begin(const MtcTransfer &row);
  Status advance(Transfer &transfer);
  Status advanceAll();
  Status agree(const Transfer &transfer);
  Status move(Transfer &transfer);
  size_t undone(std::span<const MtcTransfer> transfers) const;
  void forget(std::span<const MtcTransfer> transfers);
  void keepGoing(); ///< the thread

  comm::MpiWire wire_;
  Alarm &alarm_;
  Mesh mesh_;
  int rank_;
  ArenaViews arenas_;
  std::array<Group, MTC_GROUP_COUNT> groups_;
  Status failure_; ///< guarded by the wire's lock, as all below
  std::list<Transfer> open_, unused_;
  /// Of each channel, by stage of the peer and direction: transfers that were
  /// begun, and those whose data were given to MPI.
  std::vector<std::array<uint64_t, 2>> begun_, given_;
  int unmoved_ = 0; ///< transfers that are not done
  std::array<int64_t, MTC_GROUP_COUNT + 1> moved_{};
  std::condition_variable posted_;
  std::atomic<int> waiting_{0}; ///< threads that let messages go on
  bool ending_ = false;
  std::thread thread_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_COMM_MPI_MPI_COMMUNICATOR_H
