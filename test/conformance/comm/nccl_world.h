//===- nccl_world.h - ranks that exchange by NCCL ---------------*- C++ -*-===//
#ifndef MTC_TEST_CONFORMANCE_COMM_NCCL_WORLD_H
#define MTC_TEST_CONFORMANCE_COMM_NCCL_WORLD_H

#include "worlds.h"

#include "runtime/comm/shm/shm_communicator.h"

namespace mtc::test {

/// Runs `body` as a rank whose GPU exchanges by NCCL, with the libraries that
/// this machine's loader finds: the stand-ins, or a driver and a GPU for each
/// rank. The arenas of `body` are the host's: what a call reads is copied to
/// the device's before it, and what it may have written back behind it.
/// `control` is how ranks meet.
std::string runNcclRank(runtime::ShmCommunicator &control, int rank,
                        int64_t arenaBytes, const Body &body);

} // namespace mtc::test
#endif // MTC_TEST_CONFORMANCE_COMM_NCCL_WORLD_H
