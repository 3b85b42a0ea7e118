//===- mpi_world.h - ranks that are started as on many hosts ----*- C++ -*-===//
#ifndef MTC_TEST_CONFORMANCE_COMM_MPI_WORLD_H
#define MTC_TEST_CONFORMANCE_COMM_MPI_WORLD_H

#include "worlds.h"

namespace mtc::test {

struct MpiPlace {
  std::string_view library; ///< a name of kMpiLibraries
  int listenFd;             ///< of rank 0, which listens there; others: -1
  int port;                 ///< on 127.0.0.1, where ranks meet
  int rank;
  int ranksPerHost; ///< so many count as those of a host
};

/// Runs `body` as a rank of a world over MPI, in a process that was made for
/// it, and that ends with it. MPICH begins by what the ranks tell each other,
/// Open MPI by its launcher, which must have started them.
std::string runMpiRank(const MpiPlace &place, const runtime::Mesh &mesh,
                       int64_t arenaBytes, const Body &body);

} // namespace mtc::test
#endif // MTC_TEST_CONFORMANCE_COMM_MPI_WORLD_H
