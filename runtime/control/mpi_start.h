//===- mpi_start.h - MPI begins, and where ranks meet -----------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_MPI_START_H
#define MTC_RUNTIME_CONTROL_MPI_START_H

#include "mtc/runtime/run.h"
#include "runtime/comm/mpi/call_thread.h"
#include "runtime/comm/mpi/load.h"
#include "runtime/comm/mpi/pmi.h"
#include "runtime/rendezvous/launch_place.h"
#include "runtime/rendezvous/meeting.h"

#include <atomic>
#include <chrono>
#include <functional>

namespace mtc::runtime {

/// A descriptor that listens at MTC_MASTER_ADDR and MTC_MASTER_PORT, for rank 0
/// of the launcher that opened it.
inline constexpr const char *kListenVariable = "MTC_LISTEN_FD";
/// The hash of the plan that its ranks run.
inline constexpr const char *kPlanVariable = "MTC_PLAN";

/// How long MPI may take to begin.
struct WaitLimit {
  std::chrono::milliseconds time;
  std::function<bool()> stop; ///< a signal, or a library that gave up
};

/// Begins MPI in one of two ways. Launchers of MPI bring what its ranks need to
/// find each other: there MPI comes first and says where the control channel's
/// ranks meet. All other launchers bring nothing: ranks meet at rank 0's
/// address, and MPI begins by what the control channel gathers (pmi.h).
class MpiStart {
public:
  MpiStart(const RunOptions &options, const LaunchPlace &place)
      : options_(options), place_(place) {}
  ~MpiStart();

  /// Chooses and opens the library, and begins MPI where the launcher brings
  /// what that needs. To be called first of all: launchers end the others when
  /// a rank fails behind the begin of MPI, and some leave them waiting when it
  /// fails before. Errors: usage, when the library cannot begin here, or says
  /// another rank than the launcher; those of loadMpi; peerDied, when MPI has
  /// not begun within `limit`'s time; interrupted, by its stop.
  Status begin(const WaitLimit &limit);
  /// Before ranks meet; `meeting` then has the address. Errors: usage, when
  /// nobody knows it; those of listenAt.
  Status before(MeetOptions &meeting);
  /// Once they have met. Errors: as `begin`, but that it waits until all began
  /// or the gathering fails; interrupted, when MPI has not begun five seconds
  /// behind `stop`.
  Status behind(Gather gather, const std::atomic<bool> &stop);
  const MpiEngine &engine() const { return *engine_; }
  /// Collective, behind the last message.
  void finalize();

private:
  Status choose();
  Status initialize(const WaitLimit &limit);
  Status shareAddress(MeetOptions &meeting);
  Status findAddress(MeetOptions &meeting);

  const RunOptions &options_;
  const LaunchPlace &place_;
  const MpiLibrary *library_ = nullptr;
  const MpiEngine *engine_ = nullptr;
  bool native_ = false; ///< the launcher brings what MPI needs
  int listenFd_ = -1;
  std::unique_ptr<PmiServer> pmi_;
  CallThread calls_; ///< begins MPI, and ends it: one thread must do both
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_MPI_START_H
