//===- state.h - what rank threads share ------------------------*- C++ -*-===//
//
// Everything here is guarded by ThreadsState::lock. Data are copied and reduced
// without the lock, by the thread that came last; the `busy` marks keep the
// owners of the buffers from returning meanwhile.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_THREADS_STATE_H
#define MTC_RUNTIME_COMM_THREADS_STATE_H

#include "runtime/comm/call.h"
#include "runtime/comm/threads/threads_world.h"

#include <condition_variable>
#include <list>
#include <mutex>
#include <vector>

namespace mtc::runtime::comm {

using Lock = std::unique_lock<std::mutex>;

/// One group of ranks, in the midst of one collective.
struct Rendezvous {
  std::vector<int> members;
  std::vector<CallRecord> calls; ///< by group rank; valid where `present`
  std::vector<void *> buffers;
  std::vector<Placement> placements; ///< of buffers, in their owner's arenas
  std::vector<char> present;
  int arrived = 0;
  uint64_t generation = 0; ///< collectives that are done
  bool busy = false;       ///< a member works on the buffers
};

/// A transfer of a rank that it has not waited for.
struct OpenTransfer {
  const MtcTransfer *row = nullptr;
  bool done = false;
  bool busy = false;    ///< its bytes are being copied
  bool awaited = false; ///< by the call in which its rank is
};

/// A transfer that waits for its other side. Its OpenTransfer stays where it is
/// until it is done or withdrawn.
struct Pending {
  char *data = nullptr;
  TransferSide side;
  OpenTransfer *transfer = nullptr;
};

/// Transfers of one pair of ranks, or of one call, for which room is kept: more
/// work as well, but then a call allocates.
inline constexpr size_t kRoom = 16;

/// From one rank to one rank. At most one of the queues is non-empty. Short: a
/// program posts a few transfers ahead.
struct Channel {
  std::vector<Pending> sends, receives;
};

/// Both sides of a transfer.
struct Match {
  int source, target;
  Pending send, receive;
};

/// Calls in which a thread of a rank can be blocked, one in each.
enum class Within { collective, wait };

struct RankSlot {
  std::condition_variable wake;
  bool finished = false;
  bool blocked[2] = {};           ///< by Within
  int running = 1;                ///< threads neither blocked here nor asleep
  Status failure;                 ///< sticky
  const Rendezvous *in = nullptr; ///< the collective in which it is blocked
  std::vector<Match> matches;     ///< of the post in which the rank is
  std::list<OpenTransfer> open;   ///< in the order of posting
  std::list<OpenTransfer> unused; ///< kept for the next ones
  int awaited = 0;                ///< transfers that the rank is blocked for
};

struct ThreadsState {
  ThreadsState(const Mesh &mesh, ThreadsOptions options);

  /// The group of `kind` with `rank` in it; null if there is none.
  Rendezvous *group(int rank, MtcGroup kind) {
    return groupOf[size_t(kind) * ranks.size() + rank];
  }
  Channel &channel(int source, int target) {
    return channels[size_t(source) * ranks.size() + target];
  }

  /// Fails `members` with `status` and everybody else with peerDied, and wakes
  /// all; ranks that failed before keep their Status.
  void fail(std::span<const int> members, const Status &status);
  void block(int rank, Within call);
  void release(int rank, Within call); ///< if blocked there; wakes it
  /// The number of its running threads changes by `change`.
  void countRunning(int rank, int change);
  /// Fails everybody with hang if nobody can go on. Strict worlds only.
  void detectDeadlock();
  /// Returns when nobody uses the rank's arenas any more.
  void finish(int rank);
  /// Takes what a rank has posted, and nobody met, off the channels.
  void withdraw(Lock &held, int rank);

  Status collective(int rank, std::span<const ArenaView> arenas,
                    const CallRecord &call, void *buffer);
  Status post(int rank, std::span<const ArenaView> arenas,
              std::span<const MtcTransfer> transfers);
  Status wait(int rank, std::span<const MtcTransfer> transfers);

  Mesh mesh;
  ThreadsOptions options;
  std::mutex lock;
  std::vector<RankSlot> ranks;
  std::vector<Rendezvous> groups;    ///< [kind][lowest member]
  std::vector<Rendezvous *> groupOf; ///< [kind][rank]; null: not a member
  std::vector<Channel> channels;     ///< [source][target]
};

} // namespace mtc::runtime::comm
#endif // MTC_RUNTIME_COMM_THREADS_STATE_H
