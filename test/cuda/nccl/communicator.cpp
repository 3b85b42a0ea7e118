//===- communicator.cpp - one rank's communicator -------------------------===//
#include "test/cuda/nccl/communicator.h"

#include "test/cuda/driver/report.h"
#include "test/cuda/nccl/launch.h"
#include "test/cuda/nccl/results.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

namespace mtc::standin::nccl {
namespace {

std::mutex registryMutex;
/// All that were ever made.
std::vector<std::unique_ptr<ncclComm>> registry;

void tellLeaks() {
  if (!environment("MTC_STANDIN_LEAKS", 0))
    return;
  std::lock_guard lock(registryMutex);
  for (const auto &each : registry)
    if (each->life < Life::destroyed)
      report("NCCL: left at the end: " + each->name);
}

/// Of each communicator that had collectives.
void tellRegistered() {
  if (!environment("MTC_STANDIN_COMMUNICATORS", 0))
    return;
  std::lock_guard lock(registryMutex);
  for (const auto &each : registry)
    if (each->calls)
      report("NCCL: " + each->name + ": " +
             std::to_string(each->registeredCalls) + " of " +
             std::to_string(each->calls) + " collectives in registered memory");
}

/// Ranks of one process that are on one GPU are refused unless it is allowed;
/// then each rank of a thread is taken for one on another GPU.
Device *deviceOf(int rank, int gpu) {
  static std::map<std::tuple<int, std::thread::id, int>,
                  std::unique_ptr<Device>>
      devices;
  auto key = environmentHas("MTC_STANDIN_ALLOW", "duplicate_gpu")
                 ? std::tuple(gpu, std::this_thread::get_id(), rank)
                 : std::tuple(gpu, std::thread::id(), 0);
  auto &own = devices[key];
  if (!own)
    own = std::make_unique<Device>();
  return own.get();
}

} // namespace

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

uint64_t draw() {
  static std::mt19937_64 generator(
      uint64_t(environment("MTC_STANDIN_SEED", 1)) * 64 +
      (registry.empty() ? 0 : uint64_t(registry.front()->rank)));
  std::lock_guard lock(registryMutex);
  return generator();
}

ncclComm_t makeCommunicator(int rank, int size, int gpu,
                            const ncclConfig_t *config, ncclComm_t parent) {
  static int atTheEnd = std::atexit([] {
    tellRegistered();
    tellLeaks();
  });
  (void)atTheEnd;
  auto made = std::make_unique<ncclComm>();
  made->rank = rank;
  made->size = size;
  made->gpu = gpu;
  bool chosen = config && config->blocking != NCCL_CONFIG_UNDEF_INT;
  made->blocking = chosen ? config->blocking : parent ? parent->blocking : true;
  std::lock_guard lock(registryMutex);
  made->device = parent ? parent->device : deviceOf(rank, gpu);
  made->number = int(registry.size()) + 1;
  made->name = "communicator " + std::to_string(made->number);
  if (config && config->commName)
    made->name += std::string(" (") + config->commName + ")";
  if (size)
    nameRank(*made);
  registry.push_back(std::move(made));
  return registry.back().get();
}

void nameRank(ncclComm &comm) {
  comm.name += ", rank " + std::to_string(comm.rank) + " of " +
               std::to_string(comm.size);
}

std::string whoIsBusy(const Device &device) {
  std::lock_guard lock(registryMutex);
  for (const auto &each : registry)
    if (each->device == &device && each->open && each->life != Life::aborted)
      return each->name;
  return "";
}

bool isKnown(ncclComm_t comm) {
  std::lock_guard lock(registryMutex);
  return std::ranges::any_of(
      registry, [&](const auto &each) { return each.get() == comm; });
}

ncclResult_t check(ncclComm_t comm, const char *who, bool use) {
  if (!comm)
    return refuse(ncclInvalidArgument,
                  std::string(who) + " : comm argument is NULL");
  if (!isKnown(comm))
    return refuse(ncclInvalidArgument, "Error: corrupted comm object detected");
  Life life = comm->life;
  if (life == Life::aborted || life == Life::destroyed) {
    report("NCCL: nccl" + std::string(who) + " with " + comm->name +
           ", which was " + (life == Life::aborted ? "aborted" : "destroyed"));
    return refuse(ncclInvalidArgument, "Error: corrupted comm object detected");
  }
  if (!use)
    return ncclSuccess;
  // A communicator that does not block stays as its first error left it.
  ncclResult_t async = comm->async;
  std::lock_guard lock(comm->mutex);
  if (!comm->blocking && (comm->job || async == ncclInProgress))
    return refuseStrictly(ncclInvalidArgument,
                          "Attempt to use communicator before the previous "
                          "operation returned ncclSuccess: nccl" +
                              std::string(who) + ", " + comm->name);
  if (!comm->blocking && async != ncclSuccess)
    return async;
  if (life == Life::joining)
    return refuseStrictly(ncclInvalidArgument,
                          "nccl" + std::string(who) + " with " + comm->name +
                              ", which has not been joined");
  return ncclSuccess;
}

std::string whoRegistered(CUdeviceptr from, size_t bytes) {
  std::lock_guard lock(registryMutex);
  for (const auto &each : registry)
    if (each->life < Life::destroyed && each->registered.touches(from, bytes))
      return each->name;
  return "";
}

std::string whoIsGone(const ncclComm &comm) {
  if (!comm.shared)
    return "";
  for (int rank = 0; rank < comm.size; ++rank) {
    Presence presence = comm.shared->rank(rank).presence;
    std::string who = "rank " + std::to_string(rank);
    if (rank == comm.rank)
      continue;
    if (presence == Presence::aborted)
      return who + " has aborted the communicator";
    if (presence == Presence::left)
      return who + " has destroyed the communicator";
    if (!comm.shared->isAlive(rank))
      return "the process of " + who + " has ended";
  }
  return "";
}

} // namespace mtc::standin::nccl
