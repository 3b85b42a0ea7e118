//===- shm_setup.h - what a launcher makes for the ranks --------*- C++ -*-===//
//
// Memory of a run on one host: one control memfd, and one memfd per rank and
// kind of arena, named "mtc:r3:params" (so tools that list mappings show it);
// none of a kind of no bytes.
// There is no name in the file system: when the last process is gone, so is the
// memory.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_SHM_SHM_SETUP_H
#define MTC_RUNTIME_COMM_SHM_SHM_SETUP_H

#include "runtime/comm/comm.h"
#include "runtime/comm/shm/mapping.h"

#include <atomic>
#include <string>

namespace mtc::runtime {

/// The environment variable that carries the number of the control descriptor.
inline constexpr const char *kShmEnvironment = "MTC_SHM_FD";

/// Words per rank that the runtime may use as it likes.
inline constexpr int kShmStateWords = 64;
/// The one that holds the step in progress.
inline constexpr int kStepWord = 0;
/// The one that counts batches of evaluations between steps.
inline constexpr int kBeatWord = 3;
/// Those of the StepGate, of this rank only.
inline constexpr int kGateWord = 1;
inline constexpr int kSaveWord = 2;
inline constexpr int kGateRank = 0;

/// Lives in the launcher, made before it forks. The descriptors are inherited
/// through fork and exec; a child needs its rank and the control descriptor.
class ShmSetup {
public:
  /// `arenas[rank]`, one entry per rank of the mesh. Sizes are rounded up to
  /// whole pages. `posted`, at most MTC_MOST_POSTED: the transfers of a channel
  /// that a rank has begun and not ended; more take place only in a wait. Fails
  /// if the host rejects memory or descriptors.
  static Status create(const Mesh &mesh, std::span<const ArenaSizes> arenas,
                       int64_t posted, std::unique_ptr<ShmSetup> &out);
  /// Closes the descriptors; the ranks' mappings stay theirs.
  ~ShmSetup();

  int controlFd() const { return controlFd_; }
  /// Ranks are no children of this process: they open its descriptors in /proc.
  void openToOthers();
  /// "MTC_SHM_FD=7", for the environment of a rank.
  std::string environment() const;
  /// Bytes of all arenas and the control segment.
  int64_t totalBytes() const { return totalBytes_; }

  /// Says that `rank` is dead: all pending and future calls of everybody fail
  /// with peerDied and name the rank. Async-signal-safe. The first cause stays.
  void markDead(int rank);
  /// The same, with the launcher as culprit.
  void abort();
  bool aborted() const;
  /// The culprit as people read it; only when aborted().
  Status abortStatus() const;

  /// True once the rank called finish(): an exit before is a death.
  bool finished(int rank) const;
  /// Word `index` < kShmStateWords of a rank; starts as 0. The meaning is the
  /// runtime's (step, phase, stop flag).
  std::atomic<int64_t> &state(int rank, int index);

private:
  ShmSetup() = default;
  Status createArena(int rank, int kind, int64_t bytes);

  Mesh mesh_;
  int controlFd_ = -1;
  std::vector<int> arenaFds_;
  comm::Mapping control_;
  int64_t totalBytes_ = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_COMM_SHM_SHM_SETUP_H
