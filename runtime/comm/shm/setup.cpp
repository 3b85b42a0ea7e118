//===- setup.cpp - what a launcher makes for the ranks --------------------===//

#include "mtc/runtime/memory.h"
#include "runtime/comm/shm/control.h"
#include "runtime/comm/shm/shm_setup.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

static_assert(kShmStateWords == comm::kStateWords);

/// A memfd of `bytes` bytes that survives exec.
Status createMemory(const std::string &name, int64_t bytes, int &fd) {
  fd = memfd_create(name.c_str(), 0);
  if (fd >= 0 && ftruncate(fd, bytes) == 0)
    return Status::okay();
  Status status(StatusCode::infeasible,
                fmt::format("cannot create {} bytes of shared memory '{}': {}; "
                            "check free memory, `ulimit -n` and `ulimit -f`",
                            bytes, name, std::strerror(errno)));
  if (fd >= 0)
    close(fd);
  fd = -1;
  return status;
}

int64_t wholePages(int64_t bytes) {
  int64_t page = sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

comm::Control view(const comm::Mapping &mapping, const Mesh &mesh) {
  return {mapping.base(), mesh};
}

} // namespace

Status ShmSetup::createArena(int rank, int kind, int64_t bytes) {
  comm::RankBlock &block = view(control_, mesh_).rank(rank);
  block.fd[kind] = -1;
  block.bytes[kind] = 0;
  if (bytes < 0)
    return {StatusCode::usage,
            fmt::format("arena '{}' of rank {}: expected at least 0 bytes, "
                        "found {}",
                        kArenas[kind].name, rank, bytes)};
  if (bytes == 0)
    return Status::okay();
  int fd = -1;
  bytes = wholePages(bytes);
  MTC_RETURN_IF_ERROR(createMemory(
      fmt::format("mtc:r{}:{}", rank, kArenas[kind].name), bytes, fd));
  arenaFds_.push_back(fd);
  block.fd[kind] = fd;
  block.bytes[kind] = bytes;
  totalBytes_ += bytes;
  return Status::okay();
}

Status ShmSetup::create(const Mesh &mesh, std::span<const ArenaSizes> arenas,
                        int64_t posted, std::unique_ptr<ShmSetup> &out) {
  if (int64_t(arenas.size()) != mesh.worldSize())
    return {StatusCode::usage,
            fmt::format("expected arena sizes of {} ranks, found {}",
                        mesh.worldSize(), arenas.size())};
  std::unique_ptr<ShmSetup> setup(new ShmSetup);
  setup->mesh_ = mesh;
  uint32_t ringSlots = comm::Control::ringSlots(posted);
  int64_t bytes = comm::Control::bytes(mesh, ringSlots);
  setup->totalBytes_ = bytes;
  MTC_RETURN_IF_ERROR(createMemory("mtc:control", bytes, setup->controlFd_));
  MTC_RETURN_IF_ERROR(
      comm::Mapping::map(setup->controlFd_, bytes, setup->control_));
  for (int rank = 0; rank < mesh.worldSize(); ++rank)
    for (int kind = 0; kind < MTC_ARENA_COUNT; ++kind)
      MTC_RETURN_IF_ERROR(setup->createArena(rank, kind, arenas[rank][kind]));
  comm::ControlHeader &header = view(setup->control_, mesh).header();
  header.bytes = bytes;
  header.mesh = mesh;
  header.ringSlots = ringSlots;
  header.magic = comm::kControlMagic;
  out = std::move(setup);
  return Status::okay();
}

ShmSetup::~ShmSetup() {
  for (int fd : arenaFds_)
    close(fd);
  if (controlFd_ >= 0)
    close(controlFd_);
}

void ShmSetup::openToOthers() {
  view(control_, mesh_).header().owner = getpid();
}

std::string ShmSetup::environment() const {
  return fmt::format("{}={}", kShmEnvironment, controlFd_);
}

void ShmSetup::markDead(int rank) {
  view(control_, mesh_).abort(comm::AbortCause::died, rank);
}

void ShmSetup::abort() {
  view(control_, mesh_).abort(comm::AbortCause::aborted, -1);
}

bool ShmSetup::aborted() const { return view(control_, mesh_).aborted(); }

Status ShmSetup::abortStatus() const {
  return view(control_, mesh_).abortStatus();
}

bool ShmSetup::finished(int rank) const {
  return view(control_, mesh_).rank(rank).finished.load() != 0;
}

std::atomic<int64_t> &ShmSetup::state(int rank, int index) {
  return view(control_, mesh_).rank(rank).state[index];
}

} // namespace mtc::runtime
