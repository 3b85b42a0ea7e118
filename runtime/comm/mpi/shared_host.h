//===- shared_host.h - ranks of one host share their memory -----*- C++ -*-===//
//
// Ranks that any launcher started are no children of one process, so nobody
// gives them memory. The first rank of each host makes it for all of them; the
// others open it by the descriptors of that process. Without a name in the file
// system it is gone with the last of them.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_MPI_SHARED_HOST_H
#define MTC_RUNTIME_COMM_MPI_SHARED_HOST_H

#include "runtime/comm/mpi/pmi.h"
#include "runtime/comm/shm/shm_communicator.h"

namespace mtc::runtime {

/// Ranks with equal keys can open each other's memory: those of one user on one
/// running kernel, in one space of process numbers, that give their host one
/// name (hostName).
std::string hostKey();

/// What this rank brings.
struct HostShare {
  int rank = 0;
  Mesh mesh;
  ArenaSizes arenas{};
  int64_t posted = 0;  ///< of its program (ShmSetup::create)
  int64_t threads = 1; ///< of the rank: its streams, or the team that computes
  std::string key;     ///< hostKey()
};

/// A rank and the memory that it shares with those of its host.
class SharedHost {
public:
  /// Collective over all ranks. Null: no other rank is on this host. Errors:
  /// those of gathering and of ShmSetup::create; failed, when the memory of the
  /// first rank cannot be opened.
  static Status join(const HostShare &own, const Gather &gather,
                     std::unique_ptr<SharedHost> &out);
  ~SharedHost();

  /// Whether a rank is on this host, by rank.
  const std::vector<bool> &near() const { return near_; }
  /// Of the whole mesh; ranks of other hosts never take part.
  ShmCommunicator &comm() { return *comm_; }

private:
  struct Member {
    std::string key;
    ArenaSizes arenas{};
    int64_t posted = 0;
  };
  static Status read(const std::vector<std::string> &all,
                     std::vector<Member> &members);
  Status make(const HostShare &own, const std::vector<Member> &members);
  Status attach(const HostShare &own, const std::string &path, int first);
  Status open(const std::string &said, int first);

  std::vector<bool> near_;
  std::unique_ptr<ShmSetup> made_; ///< of the first rank
  int openedFd_ = -1;              ///< of the others
  std::unique_ptr<ShmCommunicator> comm_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_COMM_MPI_SHARED_HOST_H
