//===- worlds.cpp - makes the communicators of a run ----------------------===//

#include "runtime/comm/worlds.h"

#include "runtime/comm/shm/shm_communicator.h"
#include "runtime/comm/threads/threads_world.h"

#include <algorithm>

namespace mtc::runtime {
namespace {

class InProcess final : public World {
public:
  explicit InProcess(const WorldRequest &request)
      : mesh_(request.mesh), world_(mesh_, ThreadsOptions{request.strict}),
        comms_(static_cast<size_t>(mesh_.worldSize())) {}

  const Mesh &mesh() const override { return mesh_; }
  ArenaViews sharedArenas(int) const override { return {}; }
  Communicator &join(int rank, const ArenaViews &arenas) override {
    comms_[rank] = world_.join(rank, arenas);
    return *comms_[rank];
  }
  std::atomic<int64_t> *step(int) override { return nullptr; }
  StepGate gate() override { return StepGate(gate_, saves_); }

private:
  Mesh mesh_;
  std::atomic<int64_t> gate_{0}, saves_{0};
  ThreadsWorld world_;
  std::vector<std::unique_ptr<Communicator>> comms_;
};

/// Of the ranks of a host, the one that this process is.
class OnOneHost final : public World {
public:
  OnOneHost(std::unique_ptr<ShmCommunicator> comm, int rank)
      : comm_(std::move(comm)), rank_(rank) {}

  const Mesh &mesh() const override { return comm_->mesh(); }
  ArenaViews sharedArenas(int) const override {
    ArenaViews views{};
    std::ranges::copy(comm_->arenas(), views.begin());
    return views;
  }
  Communicator &join(int, const ArenaViews &arenas) override {
    comm_->useOwn(arenas);
    return *comm_;
  }
  std::atomic<int64_t> *step(int) override {
    return &comm_->state(rank_, kStepWord);
  }
  std::atomic<int64_t> *beats(int) override {
    return &comm_->state(rank_, kBeatWord);
  }
  StepGate gate() override {
    return StepGate(comm_->state(kGateRank, kGateWord),
                    comm_->state(kGateRank, kSaveWord));
  }

private:
  std::unique_ptr<ShmCommunicator> comm_;
  int rank_;
};

Status attach(const WorldRequest &request, std::unique_ptr<World> &out) {
  std::unique_ptr<ShmCommunicator> comm;
  ShmOptions options;
  options.threads = request.threads;
  MTC_RETURN_IF_ERROR(
      ShmCommunicator::attachFromEnvironment(request.rank, options, comm));
  out = std::make_unique<OnOneHost>(std::move(comm), request.rank);
  return Status::okay();
}

} // namespace

Status makeWorld(CommKind kind, const WorldRequest &request,
                 std::unique_ptr<World> &out) {
  switch (kind) {
  case CommKind::threads:
    out = std::make_unique<InProcess>(request);
    break;
  case CommKind::shm:
    return attach(request, out);
  case CommKind::mpi:
    return {StatusCode::internal, "an MPI world needs an engine (MpiWorld)"};
  case CommKind::nccl:
    return {StatusCode::internal, "NCCL needs a world of the host"};
  }
  return Status::okay();
}

} // namespace mtc::runtime
