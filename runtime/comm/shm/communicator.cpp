//===- communicator.cpp - attaching a rank, and its memory ----------------===//

#include "mtc/runtime/memory.h"
#include "runtime/base/cores.h"
#include "runtime/comm/shm/shm_communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <sys/stat.h>

namespace mtc::runtime {

using comm::Mapping;

namespace {

// Reference numbers of the choice: 2000 pauses save 25 us per small call when
// each rank has a core; any spin costs when ranks share cores.
constexpr int kSpinWithOwnCore = 2000;

} // namespace

Status ShmCommunicator::attach(int controlFd, int rank, ShmOptions options,
                               std::unique_ptr<ShmCommunicator> &out) {
  std::unique_ptr<ShmCommunicator> made(new ShmCommunicator);
  MTC_RETURN_IF_ERROR(made->initialise(controlFd, rank, options));
  out = std::move(made);
  return Status::okay();
}

Status
ShmCommunicator::attachFromEnvironment(int rank, ShmOptions options,
                                       std::unique_ptr<ShmCommunicator> &out) {
  const char *text = std::getenv(kShmEnvironment);
  int fd = -1;
  const char *end = text ? text + std::strlen(text) : nullptr;
  if (!text || std::from_chars(text, end, fd).ptr != end || fd < 0)
    return {StatusCode::usage,
            fmt::format("expected the number of a file descriptor in {}, found "
                        "'{}'; start ranks with the launcher",
                        kShmEnvironment, text ? text : "")};
  return attach(fd, rank, options, out);
}

Status ShmCommunicator::initialise(int controlFd, int rank,
                                   ShmOptions options) {
  struct stat file = {};
  bool open = fstat(controlFd, &file) == 0;
  if (!open || file.st_size < int64_t(sizeof(comm::ControlHeader)))
    return {StatusCode::usage,
            fmt::format("file descriptor {} is no control segment; does the "
                        "launcher pass it on",
                        controlFd)};
  MTC_RETURN_IF_ERROR(Mapping::map(controlFd, file.st_size, controlMapping_));
  auto &header = *static_cast<comm::ControlHeader *>(controlMapping_.base());
  MTC_RETURN_IF_ERROR(comm::Control::check(header, file.st_size));
  Mesh mesh = header.mesh;
  int64_t world = mesh.worldSize();
  if (rank < 0 || rank >= world)
    return {StatusCode::usage,
            fmt::format("expected a rank below {}, found {}", world, rank)};
  control_ = comm::Control(controlMapping_.base(), mesh);
  int64_t ranks = options.ranks > 0 ? options.ranks : world;
  bool ownCore = ranks * options.threads <= usableCores();
  spin_ = options.spin >= 0 ? options.spin : ownCore ? kSpinWithOwnCore : 0;
  sends_.resize(mesh.stages());
  receives_.resize(mesh.stages());
  open_.reserve(size_t(mesh.stages()) * 2 * control_.header().ringSlots);
  mappings_.resize(size_t(world) * MTC_ARENA_COUNT);
  rank_ = rank;
  makeGroups();
  MTC_RETURN_IF_ERROR(mapArenas(rank_));
  for (int kind = 0; kind < MTC_ARENA_COUNT; ++kind)
    arenas_.push_back({mappings_[size_t(rank_) * MTC_ARENA_COUNT + kind].base(),
                       control_.rank(rank_).bytes[kind]});
  return Status::okay();
}

void ShmCommunicator::makeGroups() {
  for (int kind = 0; kind < MTC_GROUP_COUNT; ++kind) {
    Group &group = groups_[kind];
    group.members = mesh().members(rank_, MtcGroup(kind));
    size_t size = group.members.size();
    auto self = std::ranges::find(group.members, rank_);
    group.self = int(self - group.members.begin());
    group.records.resize(size);
    group.inputs.resize(size);
    group.outputs.resize(size);
  }
}

Status ShmCommunicator::mapArenas(int rank) {
  void *base = nullptr;
  for (int kind = 0; kind < MTC_ARENA_COUNT; ++kind)
    if (int64_t bytes = control_.rank(rank).bytes[kind]; bytes > 0)
      MTC_RETURN_IF_ERROR(resolve(rank, {kind, 0}, bytes, base));
  return Status::okay();
}

void ShmCommunicator::useOwn(const ArenaViews &arenas) {
  if (mesh().worldSize() > 1)
    return;
  for (int kind = 0; kind < MTC_ARENA_COUNT; ++kind)
    if (!arenas_[kind].base)
      arenas_[kind] = arenas[kind];
}

ShmCommunicator::~ShmCommunicator() { finish(); }

void ShmCommunicator::finish() {
  if (rank_ < 0)
    return;
  control_.core(rank_).store(0, std::memory_order_relaxed);
  control_.rank(rank_).finished.store(1);
}

int ShmCommunicator::looks() {
  if (spin_ == 0)
    return 0;
  int32_t here = sched_getcpu() + 1;
  std::atomic<int32_t> &own = control_.core(rank_);
  if (own.load(std::memory_order_relaxed) != here)
    own.store(here, std::memory_order_relaxed);
  for (int rank = 0; rank < mesh().worldSize(); ++rank)
    if (rank != rank_ &&
        control_.core(rank).load(std::memory_order_relaxed) == here)
      return 0;
  return spin_;
}

void ShmCommunicator::abort() {
  control_.abort(comm::AbortCause::aborted, rank_);
}

Status ShmCommunicator::fail(Status status) {
  {
    std::lock_guard held(shared_);
    if (!failed_.load())
      failure_ = std::move(status);
    failed_.store(true, std::memory_order_release);
  }
  abort();
  return failure_;
}

Status ShmCommunicator::resolve(int rank, comm::Placement placement,
                                int64_t bytes, void *&out) {
  const comm::RankBlock &block = control_.rank(rank);
  bool arena = placement.arena >= 0 && placement.arena < MTC_ARENA_COUNT;
  // While this rank attaches, its own arenas are mapped like others'.
  bool own = arena && rank == rank_ && !arenas_.empty();
  int64_t size = own     ? arenas_[placement.arena].bytes
                 : arena ? block.bytes[placement.arena]
                         : 0;
  MTC_RETURN_IF_ERROR(comm::checkPlacement(rank, placement, size, bytes));
  if (own) {
    out = static_cast<char *>(arenas_[placement.arena].base) + placement.offset;
    return Status::okay();
  }
  std::lock_guard held(shared_);
  Mapping &mapping =
      mappings_[size_t(rank) * MTC_ARENA_COUNT + size_t(placement.arena)];
  if (!mapping.base() && size > 0)
    if (Status status =
            Mapping::mapOf(control_.header().owner, block.fd[placement.arena],
                           size, rank, mapping);
        !status.ok())
      return {status.code(), fmt::format("arena {} of rank {}: {}",
                                         kArenas[placement.arena].name, rank,
                                         status.message())};
  out = static_cast<char *>(mapping.base()) + placement.offset;
  return Status::okay();
}

} // namespace mtc::runtime
