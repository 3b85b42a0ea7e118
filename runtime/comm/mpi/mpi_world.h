//===- mpi_world.h - a rank of many hosts, as its process sees it ---------===//
#ifndef MTC_RUNTIME_COMM_MPI_MPI_WORLD_H
#define MTC_RUNTIME_COMM_MPI_MPI_WORLD_H

#include "runtime/comm/mpi/hosts_communicator.h"
#include "runtime/comm/mpi/mpi_communicator.h"
#include "runtime/comm/mpi/shared_host.h"
#include "runtime/comm/worlds.h"

namespace mtc::runtime {

/// The one rank of this process.
class MpiWorld final : public World {
public:
  /// Engine and alarm as for MpiCommunicator. `host` is what this rank shares
  /// with others of its host; null: nothing, its arenas are its own.
  MpiWorld(const MpiEngine &engine, Alarm &alarm, const Mesh &mesh,
           std::unique_ptr<SharedHost> host)
      : engine_(engine), alarm_(alarm), mesh_(mesh), host_(std::move(host)) {}

  const Mesh &mesh() const override { return mesh_; }
  ArenaViews sharedArenas(int rank) const override;
  Communicator &join(int rank, const ArenaViews &arenas) override;
  std::atomic<int64_t> *step(int) override { return &step_; }
  std::atomic<int64_t> *beats(int) override { return &beats_; }
  /// Of use once the rank has joined.
  StepGate gate() override;

private:
  const MpiEngine &engine_;
  Alarm &alarm_;
  Mesh mesh_;
  std::atomic<int64_t> step_{0}, beats_{0}, gate_{0}, saves_{0};
  std::unique_ptr<SharedHost> host_;
  std::unique_ptr<MpiCommunicator> comm_;
  std::unique_ptr<HostsCommunicator> hosts_; ///< of both
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_COMM_MPI_MPI_WORLD_H
