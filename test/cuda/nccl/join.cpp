//===- join.cpp - ranks become a communicator -----------------------------===//
#include "test/cuda/nccl/join.h"

#include "test/cuda/driver/report.h"
#include "test/cuda/nccl/communicator.h"
#include "test/cuda/nccl/driver_calls.h"
#include "test/cuda/nccl/results.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace mtc::standin::nccl {
namespace {

/// Which GPU a rank has: its host and its place on the bus, whatever the number
/// by which a process sees it. NCCL_HOSTID is how ranks may share one.
std::string deviceName(int gpu) {
  char bus[16] = "none";
  driver().cuDeviceGetPCIBusId_(bus, sizeof bus, gpu);
  std::string host = environmentText("NCCL_HOSTID");
  return std::string("CUDA device ") + bus + " of " +
         (host.empty() ? "this host" : host);
}

class Join : public Job {
public:
  Join(ncclComm_t comm, const ncclUniqueId &id, std::string who)
      : id(id), who(std::move(who)) {
    of = comm;
  }
  ncclResult_t step() override;
  std::string describe() const override;

private:
  ncclResult_t enter();
  ncclResult_t claim(Shared &shared);
  ncclResult_t never(const std::string &why);
  void come();
  int missingRank() const;
  ncclResult_t checkDevices() const;

  const ncclUniqueId id;
  const std::string who;
  std::shared_ptr<Shared> shared; ///< once opened
  bool entered = false, lost = false;
};

std::string Join::describe() const {
  std::string text = who + " of " + of->name + ": ";
  int missing = entered ? missingRank() : -1;
  return text + (lost ? "its ranks do not fit together"
                 : missing < 0
                     ? "not begun"
                     : "rank " + std::to_string(missing) + " has not come");
}

/// As the real library, which waits for ever.
ncclResult_t Join::never(const std::string &why) {
  lost = true;
  report("NCCL: " + who + " of " + of->name + ": " + why);
  refuse(ncclInProgress, "Bootstrap Root : " + why);
  return ncclInProgress;
}

ncclResult_t Join::claim(Shared &shared) {
  int32_t nobody = 0;
  if (!shared.head().size.compare_exchange_strong(nobody, of->size) &&
      nobody != of->size)
    return never("mismatch in info from procs, nranks " +
                 std::to_string(of->size) + " vs " + std::to_string(nobody));
  Presence free = Presence::missing;
  if (!shared.rank(of->rank).presence.compare_exchange_strong(free,
                                                              Presence::coming))
    return never("rank " + std::to_string(of->rank) + " of " +
                 std::to_string(of->size) + " ranks has already checked in");
  return ncclSuccess;
}

void Join::come() {
  RankBlock &mine = shared->rank(of->rank);
  mine.process = getpid();
  mine.born = bornAt(mine.process);
  std::snprintf(mine.device, sizeof mine.device, "%s",
                deviceName(of->gpu).c_str());
  if (of->rank == 0)
    shared->head().draw = draw() >> 1 | 1;
  mine.presence = Presence::here;
}

ncclResult_t Join::enter() {
  entered = true;
  DeviceScope scope(of->gpu);
  if (scope.result)
    return refuseCuda(scope.result);
  // Memory is allocated here, which captures may forbid. No bytes: the driver
  // looks at captures first.
  CUdeviceptr none = 0;
  if (CUresult wrong = driver().cuMemAlloc_(&none, 0);
      wrong != CUDA_ERROR_INVALID_VALUE)
    return refuseCuda(wrong);
  std::string why;
  shared = Shared::open(id, of->size, &why);
  if (!shared)
    return refuseStrictly(ncclSystemError,
                          who + " of " + of->name + ": " + why);
  if (ncclResult_t wrong = claim(*shared))
    return wrong;
  come();
  return ncclSuccess;
}

int Join::missingRank() const {
  for (int rank = 0; shared && rank < of->size; ++rank)
    if (shared->rank(rank).presence < Presence::here)
      return rank;
  return -1;
}

ncclResult_t Join::checkDevices() const {
  if (environmentHas("MTC_STANDIN_ALLOW", "duplicate_gpu"))
    return ncclSuccess;
  for (int rank = 0; rank < of->size; ++rank)
    if (rank != of->rank &&
        !std::strcmp(shared->rank(rank).device, shared->rank(of->rank).device))
      return refuse(ncclInvalidUsage, "Duplicate GPU detected : rank " +
                                          std::to_string(of->rank) +
                                          " and rank " + std::to_string(rank) +
                                          " both on " +
                                          shared->rank(rank).device);
  return ncclSuccess;
}

ncclResult_t Join::step() {
  if (of->life == Life::aborted) {
    if (shared && !lost)
      shared->rank(of->rank).presence = Presence::aborted;
    return refuse(ncclInternalError, "the communicator was aborted");
  }
  if (lost)
    return ncclInProgress;
  if (!entered)
    if (ncclResult_t wrong = enter())
      return wrong;
  if (missingRank() >= 0)
    return ncclInProgress;
  Shared::forget(id);
  if (ncclResult_t wrong = checkDevices())
    return wrong;
  of->shared = shared;
  Life joining = Life::joining;
  of->life.compare_exchange_strong(joining, Life::ready);
  return ncclSuccess;
}

} // namespace

std::unique_ptr<Job> makeJoin(ncclComm_t comm, const ncclUniqueId &id,
                              std::string who) {
  return std::make_unique<Join>(comm, id, std::move(who));
}

} // namespace mtc::standin::nccl
