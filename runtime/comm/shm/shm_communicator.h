//===- shm_communicator.h - one rank among processes of one host ----------===//
//
// Members work in place on each other's arenas: a sum reads its operands where
// they are and writes the result where it belongs, and a transfer is one copy.
// Waiting is a short bounded spin and then a futex.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_SHM_SHM_COMMUNICATOR_H
#define MTC_RUNTIME_COMM_SHM_SHM_COMMUNICATOR_H

#include "runtime/comm/shm/control.h"
#include "runtime/comm/shm/shm_setup.h"

#include <mutex>

namespace mtc::runtime {

struct ShmOptions {
  /// Looks before a waiter sleeps; -1: 2000 when each thread of a rank has a
  /// core of its own, else 0 (spinning ranks would keep the cores from those
  /// that work). None either way while another rank is on the same core.
  int spin = -1;
  /// Threads of a rank that wait for others or compute meanwhile.
  int64_t threads = 1;
  /// Ranks that share the cores of this host; 0: all of the mesh.
  int64_t ranks = 0;
};

class ShmCommunicator final : public Communicator {
public:
  /// Maps the control segment and this rank's arenas. `controlFd` stays the
  /// caller's, and it and the arenas' descriptors must stay open while the
  /// communicator lives: peers' arenas are mapped at the first collective or
  /// post that may need them.
  static Status attach(int controlFd, int rank, ShmOptions options,
                       std::unique_ptr<ShmCommunicator> &out);
  /// The same with the descriptor that MTC_SHM_FD names.
  static Status attachFromEnvironment(int rank, ShmOptions options,
                                      std::unique_ptr<ShmCommunicator> &out);
  /// Implies finish(); unmaps the arenas.
  ~ShmCommunicator() override;

  const Mesh &mesh() const { return control_.mesh(); }
  /// Page-aligned, zero at first, in MtcArena order; valid while this lives. Of
  /// a rank that is alone they are empty before useOwn, if the launcher made
  /// none.
  std::span<const ArenaView> arenas() const { return arenas_; }
  /// Of a rank that is alone: takes the caller's memory, which outlives this,
  /// for arenas that are empty. Others share theirs, and nothing is done.
  void useOwn(const ArenaViews &arenas);
  /// Word `index` < kShmStateWords of any rank, see ShmSetup::state.
  std::atomic<int64_t> &state(int rank, int index) {
    return control_.rank(rank).state[index];
  }

  Status collective(const CollectiveCall &asked, void *buffer,
                    SumReader *reader) override;
  Status post(std::span<const MtcTransfer> transfers) override;
  Status wait(std::span<const MtcTransfer> transfers) override;
  Status worldFailure() const override {
    return control_.aborted() ? control_.abortStatus() : Status::okay();
  }
  void abort() override; ///< also from a signal handler
  void finish() override;
  std::array<int64_t, MTC_GROUP_COUNT + 1> bytesMoved() const override {
    return moved_;
  }

private:
  struct Group {
    std::vector<int> members;
    int self = -1; ///< group rank
    uint64_t calls = 0;
    // Reused by each call, so that a step allocates nothing.
    std::vector<comm::CallRecord> records;
    std::vector<const void *> inputs;
    std::vector<void *> outputs;
  };
  /// A transfer that nobody has waited for.
  struct Transfer {
    const MtcTransfer *row = nullptr;
    int peer = -1;
    uint32_t sequence = 0; ///< among those of this pair and direction
    bool posted = false;   ///< its slot was free
  };

  ShmCommunicator() = default;
  Status initialise(int controlFd, int rank, ShmOptions options);
  void makeGroups();

  /// Remembers the first failure and aborts the world.
  Status fail(Status status);
  /// ok, or the first failure.
  Status failure() const {
    return failed_.load(std::memory_order_acquire) ? failure_ : Status::okay();
  }
  /// Maps those arenas of a rank that are not mapped here.
  Status mapArenas(int rank);
  /// The address of a range in a peer's arena, here.
  Status resolve(int rank, comm::Placement placement, int64_t bytes,
                 void *&out);

  /// How often a wait that begins now looks before it sleeps: not at all where
  /// another rank was seen on this core, which it would keep from going on.
  /// Says which core this is.
  int looks();

  Status joinCall(Group &group, const comm::CallRecord &call);
  Status groupBarrier(MtcGroup kind, Group &group);
  Status runSmall(const comm::CallRecord &call, Group &group, char *buffer,
                  SumReader *reader);
  Status runInPlace(const comm::CallRecord &call, Group &group, char *buffer,
                    SumReader *reader);
  Status resolveMembers(const comm::CallRecord &call, Group &group,
                        char *buffer, int64_t bytes);

  comm::TransferSlot &slotOf(const Transfer &transfer) const;
  Status publish(Transfer &transfer);
  Status move(const Transfer &transfer, comm::TransferSlot &slot);
  Status agreement(const Transfer &transfer,
                   const comm::TransferSlot &slot) const;
  Status copy(const Transfer &transfer, const comm::TransferSlot &slot);
  Status progress(std::span<const MtcTransfer> awaited, size_t &remaining);
  Status checkAwaited(std::span<const MtcTransfer> transfers) const;
  void forget(std::span<const MtcTransfer> transfers);

  comm::Mapping controlMapping_;
  comm::Control control_;
  int rank_ = -1;
  int spin_ = 0;
  // The thread of collectives and that of transfers meet here alone.
  std::mutex shared_;               ///< guards what is written of these three
  std::atomic<bool> failed_{false}; ///< from then on `failure_` stays as it is
  Status failure_;
  std::vector<comm::Mapping> mappings_; ///< [rank][arena]; empty until needed
  std::vector<ArenaView> arenas_;
  std::array<Group, MTC_GROUP_COUNT> groups_;
  std::vector<Transfer> open_;             ///< in the order of posting
  std::vector<uint32_t> sends_, receives_; ///< begun, by stage of the peer
  std::array<int64_t, MTC_GROUP_COUNT + 1> moved_{};
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_COMM_SHM_SHM_COMMUNICATOR_H
