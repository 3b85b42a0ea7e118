//===- threads_world.h - all ranks in one process ---------------*- C++ -*-===//
//
// The oracle among the backends: each rank is a thread, and what a rank waits
// for is known exactly, under one lock. A transfer is a rendezvous: a wait for
// a send returns only when it was received.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_THREADS_THREADS_WORLD_H
#define MTC_RUNTIME_COMM_THREADS_THREADS_WORLD_H

#include "runtime/comm/comm.h"

namespace mtc::runtime {

namespace comm {
struct ThreadsState;
}

struct ThreadsOptions {
  /// When every rank that has not finished is blocked, nothing can proceed any
  /// more: all fail with hang, and the message says who waits for whom. Exact:
  /// neither a timeout nor a guess.
  bool strict = false;
};

/// What the ranks of one process share. May be destroyed before its
/// communicators: they keep the state alive.
class ThreadsWorld {
public:
  explicit ThreadsWorld(const Mesh &mesh, ThreadsOptions options = {});
  ~ThreadsWorld();

  /// The communicator of `rank`, 0 <= rank < worldSize; at most one per rank.
  /// `arenas`, in MtcArena order, are only addresses: the caller owns them and
  /// keeps them until the communicator has finished. Safe from any thread.
  std::unique_ptr<Communicator> join(int rank,
                                     std::span<const ArenaView> arenas);

  /// Says that `rank` is dead: everybody's calls fail with peerDied.
  void markDead(int rank);

private:
  std::shared_ptr<comm::ThreadsState> state_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_COMM_THREADS_THREADS_WORLD_H
