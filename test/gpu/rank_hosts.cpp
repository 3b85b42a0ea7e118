//===- rank_hosts.cpp - each rank a host of its own, for NCCL -------------===//
//
//   LD_PRELOAD=librank_hosts.so mtc run ... --comm nccl
//
// NCCL refuses two ranks on one GPU, which it knows by host and number. With a
// name of its own for the host of each rank, ranks that share a GPU exchange
// over sockets: slow, but it is NCCL that does it.
//
//===----------------------------------------------------------------------===//
#include <cstdlib>
#include <string>

namespace {

struct RankHosts {
  RankHosts() {
    if (const char *rank = std::getenv("MTC_RANK"))
      setenv("NCCL_HOSTID", (std::string("rank-") + rank).c_str(), 1);
  }
} gRankHosts;

} // namespace
