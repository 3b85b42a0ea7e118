//===- worlds.cpp - the same test on every backend ------------------------===//

#include "worlds.h"

#include "launched_world.h"
#include "mpi_world.h"
#ifdef MTC_WITH_NCCL
#include "nccl_world.h"
#endif

#include "runtime/comm/shm/shm_communicator.h"
#include "runtime/comm/threads/threads_world.h"
#include "runtime/rendezvous/connection.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace mtc::test {

using runtime::ArenaView;
using runtime::Mesh;
using Clock = std::chrono::steady_clock;

namespace {

/// Arenas of one rank thread.
struct HeapArenas {
  explicit HeapArenas(int64_t bytes)
      : memory(MTC_ARENA_COUNT, std::vector<uint64_t>(bytes / 8 + 1)) {
    for (auto &arena : memory)
      views.push_back({arena.data(), bytes});
  }
  std::vector<std::vector<uint64_t>> memory;
  std::vector<ArenaView> views;
};

std::vector<std::string> runThreads(bool strict, const Mesh &mesh,
                                    int64_t arenaBytes, const Body &body) {
  int world = mesh.worldSize();
  runtime::ThreadsWorld shared(mesh, {strict});
  std::vector<std::string> results(world);
  std::vector<std::unique_ptr<HeapArenas>> arenas;
  std::vector<std::unique_ptr<runtime::Communicator>> comms;
  for (int rank = 0; rank < world; ++rank) {
    arenas.push_back(std::make_unique<HeapArenas>(arenaBytes));
    comms.push_back(shared.join(rank, arenas[rank]->views));
  }
  std::atomic<int> running = world;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < world; ++rank)
    threads.emplace_back([&, rank] {
      Rank self{rank, mesh, *comms[rank], arenas[rank]->views, [&, rank] {
                  shared.markDead(rank);
                  return std::string("killed");
                }};
      results[rank] = body(self);
      comms[rank].reset();
      --running;
    });
  auto deadline = Clock::now() + kPatience;
  while (running > 0 && Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  if (running > 0) {
    for (std::string &result : results)
      result = "timed out";
    shared.markDead(0);
  }
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

std::string runShmRank(const runtime::ShmSetup &setup, Backend backend,
                       int rank, const Body &body) {
  std::unique_ptr<runtime::ShmCommunicator> comm;
  MTC_EXPECT_OK(
      runtime::ShmCommunicator::attach(setup.controlFd(), rank, {}, comm));
#ifdef MTC_WITH_NCCL
  if (backend == Backend::nccl)
    return runNcclRank(*comm, rank, comm->arenas()[0].bytes, body);
#else
  (void)backend;
#endif
  Rank self{rank, comm->mesh(), *comm, comm->arenas(), [] {
              raise(SIGKILL);
              return std::string();
            }};
  return body(self);
}

/// The launcher's part: waits for all, and tells the world of a death.
void superviseChildren(const std::function<void(int)> &markDead,
                       std::vector<pid_t> &pids,
                       std::vector<std::string> &results, const char *memory) {
  auto deadline = Clock::now() + kPatience;
  size_t running = pids.size();
  bool late = false;
  while (running > 0) {
    for (size_t rank = 0; rank < pids.size(); ++rank) {
      int status = 0;
      if (pids[rank] == 0 || waitpid(pids[rank], &status, WNOHANG) == 0)
        continue;
      pids[rank] = 0;
      --running;
      bool exited = WIFEXITED(status) && WEXITSTATUS(status) == 0;
      results[rank] = late     ? "timed out"
                      : exited ? memory + rank * kResultBytes
                               : "killed";
      if (!exited)
        markDead(int(rank));
    }
    if (!late && Clock::now() > deadline) {
      late = true;
      for (pid_t pid : pids)
        if (pid != 0)
          kill(pid, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

/// Runs a process per rank, whose result `run` is.
std::vector<std::string>
runProcesses(int world, const std::function<std::string(int)> &run,
             const std::function<void(int)> &markDead) {
  size_t bytes = size_t(world) * kResultBytes;
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return {"no memory for results"};
  auto *text = static_cast<char *>(memory);
  std::vector<pid_t> pids;
  for (int rank = 0; rank < world; ++rank) {
    pid_t pid = fork();
    if (pid == 0) {
      std::string found = run(rank);
      found.resize(std::min(found.size(), kResultBytes - 1));
      std::memcpy(text + rank * kResultBytes, found.c_str(), found.size() + 1);
      _exit(0);
    }
    pids.push_back(pid);
  }
  std::vector<std::string> results(size_t(world), "");
  superviseChildren(markDead, pids, results, text);
  munmap(memory, bytes);
  return results;
}

std::vector<std::string> runShm(Backend backend, const Mesh &mesh,
                                int64_t arenaBytes, const Body &body) {
  runtime::ArenaSizes sizes;
  sizes.fill(arenaBytes);
  std::unique_ptr<runtime::ShmSetup> setup;
  runtime::Status created = runtime::ShmSetup::create(
      mesh, std::vector<runtime::ArenaSizes>(mesh.worldSize(), sizes), kPosted,
      setup);
  if (!created.ok())
    return {text(created)};
  return runProcesses(
      mesh.worldSize(),
      [&](int rank) { return runShmRank(*setup, backend, rank, body); },
      [&](int rank) { setup->markDead(rank); });
}

/// Nobody tells these ranks of a death: their connections do.
std::vector<std::string> runMpi(int ranksPerHost, const Mesh &mesh,
                                int64_t arenaBytes, const Body &body) {
  int fd = -1;
  if (runtime::Status status = runtime::listenAt("127.0.0.1", 0, fd);
      !status.ok())
    return {text(status)};
  std::vector<std::string> results = runProcesses(
      mesh.worldSize(),
      [&](int rank) {
        return runMpiRank(
            {"mpich", fd, runtime::portOf(fd), rank, ranksPerHost}, mesh,
            arenaBytes, body);
      },
      [](int) {});
  close(fd);
  return results;
}

} // namespace

std::string backendName(const ::testing::TestParamInfo<Backend> &info) {
  switch (info.param) {
  case Backend::threads:
    return "threads";
  case Backend::threadsStrict:
    return "threads_strict";
  case Backend::shm:
    return "shm";
  case Backend::mpi:
    return "mpi";
  case Backend::hosts:
    return "hosts";
  case Backend::openmpi:
    return "openmpi";
  case Backend::nccl:
    return "nccl";
  }
  return "unknown";
}

std::string text(const runtime::Status &status) {
  return status.ok()
             ? ""
             : std::to_string(int(status.code())) + " " + status.message();
}

std::vector<std::string> runWorld(Backend backend, const Mesh &mesh,
                                  int64_t arenaBytes, const Body &body) {
  if (backend == Backend::shm || backend == Backend::nccl)
    return runShm(backend, mesh, arenaBytes, body);
  if (backend == Backend::mpi)
    return runMpi(1, mesh, arenaBytes, body);
  if (backend == Backend::hosts)
    return runMpi(2, mesh, arenaBytes, body);
  if (backend == Backend::openmpi)
    return runLaunched(mesh, arenaBytes, body);
  return runThreads(backend == Backend::threadsStrict, mesh, arenaBytes, body);
}

void expectAllWell(Backend backend, const Mesh &mesh, int64_t arenaBytes,
                   const Body &body) {
  std::vector<std::string> results = runWorld(backend, mesh, arenaBytes, body);
  EXPECT_EQ(int(results.size()), mesh.worldSize());
  for (size_t rank = 0; rank < results.size(); ++rank)
    EXPECT_EQ(results[rank], "") << "rank " << rank;
}

} // namespace mtc::test
