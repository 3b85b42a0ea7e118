//===- mpi_world.h - ranks that are started as on many hosts ----*- C++ -*-===//
#ifndef MTC_TEST_CONFORMANCE_COMM_MPI_WORLD_H
#define MTC_TEST_CONFORMANCE_COMM_MPI_WORLD_H

#include "worlds.h"

namespace mtc::test {

/// Runs `body` as rank `rank` of a world over MPI, in a process that was made
/// for it, and that ends with it. Ranks meet at `listenFd`, a socket on
/// 127.0.0.1 that rank 0 listens at.
std::string runMpiRank(int listenFd, int rank, const runtime::Mesh &mesh,
                       int64_t arenaBytes, const Body &body);

} // namespace mtc::test
#endif // MTC_TEST_CONFORMANCE_COMM_MPI_WORLD_H
