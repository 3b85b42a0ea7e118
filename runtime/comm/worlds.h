//===- worlds.h - makes the communicators of a run --------------*- C++ -*-===//
//
// The one place that knows the backends of compiled programs: those of one
// host. Others are joined with what mtc alone has (mpi/mpi_world.h). A world is
// what ranks of a run share, as one process sees it; a row of kComms
// (comm_kind.h) names each kind.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_WORLDS_H
#define MTC_RUNTIME_COMM_WORLDS_H

#include "mtc/runtime/comm_kind.h"
#include "runtime/base/step_gate.h"
#include "runtime/comm/comm.h"

#include <atomic>
#include <memory>

namespace mtc::runtime {

class World {
public:
  virtual ~World() = default;

  virtual const Mesh &mesh() const = 0;
  /// Arenas of a rank of this process that lie in memory which ranks share;
  /// valid while the world lives. Without any: the device maps its own.
  virtual ArenaViews sharedArenas(int rank) const = 0;
  /// The communicator of a rank of this process, once per rank; the world's.
  /// `arenas` are addresses: the caller keeps the memory until the rank has
  /// finished.
  virtual Communicator &join(int rank, const ArenaViews &arenas) = 0;
  /// The step in progress of a rank, for a launcher that looks; null: none.
  virtual std::atomic<int64_t> *step(int rank) = 0;
  /// The same for the batches that it evaluated between steps.
  virtual std::atomic<int64_t> *beats(int) { return nullptr; }
  /// By which all ranks agree on their last step, and on those to save.
  virtual StepGate gate() = 0;
};

/// What a process knows before it joins.
struct WorldRequest {
  Mesh mesh;           ///< worlds of one process; others learn it by joining
  bool strict = false; ///< threads: detect deadlocks exactly
  int rank = 0;        ///< of this process, where each rank has one
  int64_t threads = 1; ///< of a rank: its streams, or the team that computes
};

/// Errors: usage and inputRejected, when the process was not started as the
/// backend needs it; infeasible, without memory.
Status makeWorld(CommKind kind, const WorldRequest &request,
                 std::unique_ptr<World> &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_COMM_WORLDS_H
