//===- api_communicator.cpp - communicators come and go -------------------===//
#include "test/cuda/driver/report.h"
#include "test/cuda/nccl/communicator.h"
#include "test/cuda/nccl/creations.h"
#include "test/cuda/nccl/driver_calls.h"
#include "test/cuda/nccl/group.h"
#include "test/cuda/nccl/join.h"
#include "test/cuda/nccl/launch.h"
#include "test/cuda/nccl/results.h"

#include <numeric>
#include <set>
#include <vector>

using namespace mtc::standin;
using namespace mtc::standin::nccl;

namespace {

ncclResult_t init(ncclComm_t *comm, int size, const ncclUniqueId &id, int rank,
                  int gpu, const ncclConfig_t *config, const char *who) {
  if (!comm)
    return refuse(ncclInvalidArgument,
                  std::string(who) + " : newcomm argument is NULL");
  if (size < 1)
    return refuse(ncclInvalidArgument,
                  "improper usage of ncclCommInitRank: nId = 1, nranks=" +
                      std::to_string(size));
  if (rank < 0 || rank >= size)
    return refuse(ncclInvalidArgument,
                  "Invalid rank requested : " + std::to_string(rank) + "/" +
                      std::to_string(size));
  if (size > kMostRanks)
    return refuseStrictly(ncclInvalidArgument, "a communicator has at most " +
                                                   std::to_string(kMostRanks) +
                                                   " ranks here");
  if (ncclResult_t wrong = checkConfig(config))
    return wrong;
  *comm = makeCommunicator(rank, size, gpu, config, nullptr);
  std::vector<int> all(static_cast<size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  nameMembers(noteCreation(rank), all);
  return issue(makeJoin(*comm, id, std::string("nccl") + who));
}

/// The GPUs of the ranks of one process: those that are there, each once.
ncclResult_t checkGpus(int count, const int *devices) {
  bool mayShare = environmentHas("MTC_STANDIN_ALLOW", "duplicate_gpu");
  int there = 0;
  if (driver().complete && !driver().cuInit_(0))
    driver().cuDeviceGetCount_(&there);
  std::set<int> taken;
  for (int rank = 0; rank < count; ++rank) {
    int gpu = devices ? devices[rank] : rank;
    if (gpu < 0 || gpu >= there)
      return refuse(ncclInvalidArgument,
                    "Invalid device requested : " + std::to_string(gpu));
    if (!taken.insert(gpu).second && !mayShare)
      return refuse(ncclInvalidUsage, "Duplicate GPU detected : device " +
                                          std::to_string(gpu) + " twice");
  }
  return ncclSuccess;
}

/// Ends what this rank still has in streams.
ncclResult_t flush(ncclComm_t comm, const char *who) {
  std::vector<std::unique_ptr<Job>> jobs;
  jobs.push_back(makeDrain(comm, who));
  return finish(jobs);
}

/// Only who has something under way sees that another rank is gone, and only if
/// that cannot end with what the other has left.
void seeWhoIsGone(ncclComm &comm) {
  if (comm.async != ncclSuccess || (comm.open == 0 && comm.blockedCalls == 0))
    return;
  std::string gone = whoIsGone(comm);
  if (gone.empty())
    return;
  if (comm.goneAt == 0)
    comm.goneAt = now();
  if (comm.blockedCalls == 0 && comm.vainAt < comm.goneAt)
    return;
  comm.async = ncclRemoteError;
  refuse(ncclRemoteError, comm.name + ": " + gone);
}

/// Until then other ranks take this one for one that goes on.
void leave(ncclComm &comm, Presence presence) {
  if (comm.shared)
    comm.shared->rank(comm.rank).presence = presence;
}

std::unique_ptr<Job> takeJob(ncclComm &comm) {
  std::lock_guard lock(comm.mutex);
  return std::move(comm.job);
}

} // namespace

MTC_NCCL ncclGetUniqueId(ncclUniqueId *id) {
  if (!id)
    return refuse(ncclInvalidArgument, "GetUniqueId : out argument is NULL");
  *id = Shared::create();
  return ncclSuccess;
}

MTC_NCCL ncclCommInitRankConfig(ncclComm_t *comm, int size, ncclUniqueId id,
                                int rank, ncclConfig_t *config) {
  return remember(init(comm, size, id, rank, currentDevice(), config,
                       "CommInitRankConfig"));
}

MTC_NCCL ncclCommInitRank(ncclComm_t *comm, int size, ncclUniqueId id,
                          int rank) {
  return remember(
      init(comm, size, id, rank, currentDevice(), nullptr, "CommInitRank"));
}

MTC_NCCL ncclCommInitAll(ncclComm_t *comms, int count, const int *devices) {
  if (!comms || count < 0)
    return refuse(ncclInvalidArgument, "CommInitAll : comms argument is NULL");
  if (ncclResult_t wrong = checkGpus(count, devices))
    return wrong;
  ncclUniqueId id = Shared::create();
  startGroup();
  for (int rank = 0; rank < count; ++rank)
    remember(init(&comms[rank], count, id, rank, devices ? devices[rank] : rank,
                  nullptr, "CommInitAll"));
  return endGroup();
}

MTC_NCCL ncclCommSplit(ncclComm_t parent, int color, int key, ncclComm_t *child,
                       ncclConfig_t *config) {
  if (ncclResult_t wrong = check(parent, "CommSplit"))
    return remember(wrong);
  if (!child)
    return remember(refuse(ncclInvalidArgument,
                           "ncclCommSplit : newcomm argument is NULL"));
  if (ncclResult_t wrong = checkConfig(config))
    return remember(wrong);
  if (color < 0 && color != NCCL_SPLIT_NOCOLOR)
    return remember(
        refuseStrictly(ncclInvalidArgument,
                       "ncclCommSplit of " + parent->name + ": colour " +
                           std::to_string(color) +
                           "; expected one from 0, or NCCL_SPLIT_NOCOLOR"));
  *child = color == NCCL_SPLIT_NOCOLOR
               ? nullptr
               : makeCommunicator(0, 0, parent->gpu, config, parent);
  return issue(makeSplit(parent, *child, color, key));
}

MTC_NCCL ncclCommFinalize(ncclComm_t comm) {
  if (!comm)
    return ncclSuccess;
  if (ncclResult_t wrong = check(comm, "CommFinalize"))
    return remember(wrong);
  Life ready = Life::ready;
  if (!comm->life.compare_exchange_strong(ready, Life::finalized))
    return refuse(ncclInvalidArgument, "");
  return finishOrLeave(makeDrain(comm, "ncclCommFinalize"));
}

MTC_NCCL ncclCommDestroy(ncclComm_t comm) {
  if (!comm)
    return ncclSuccess;
  if (ncclResult_t wrong = check(comm, "CommDestroy"))
    return wrong;
  ncclResult_t flushed = flush(comm, "ncclCommDestroy");
  comm->life = Life::destroyed;
  leave(*comm, Presence::left);
  return flushed;
}

MTC_NCCL ncclCommAbort(ncclComm_t comm) {
  if (!comm)
    return ncclSuccess;
  if (isKnown(comm) && comm->life == Life::aborted)
    return ncclSuccess;
  if (ncclResult_t wrong = check(comm, "CommAbort", false))
    return wrong;
  comm->life = Life::aborted;
  leave(*comm, Presence::aborted);
  // One that still joins tells others.
  if (std::unique_ptr<Job> job = takeJob(*comm))
    job->step();
  return issue(makeRelease(comm));
}

MTC_NCCL ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
  if (ncclResult_t wrong = check(comm, "CommGetAsyncError", false))
    return wrong;
  if (!error)
    return refuse(ncclInvalidArgument,
                  "ncclGetAsyncError : asyncError argument is NULL");
  std::unique_ptr<Job> job = takeJob(*comm);
  // Not at once, by the seed: nobody may rely on that.
  if (job && draw() % 2) {
    if (ncclResult_t result = job->step(); result != ncclInProgress) {
      comm->async = result;
      job.reset();
    }
  }
  if (job && comm->life != Life::aborted) {
    std::lock_guard lock(comm->mutex);
    comm->job = std::move(job);
  }
  seeWhoIsGone(*comm);
  *error = comm->async;
  return ncclSuccess;
}
