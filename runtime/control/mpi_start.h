//===- mpi_start.h - MPI begins, and where ranks meet -----------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_MPI_START_H
#define MTC_RUNTIME_CONTROL_MPI_START_H

#include "mtc/runtime/run.h"
#include "runtime/comm/mpi/load.h"
#include "runtime/comm/mpi/pmi.h"
#include "runtime/rendezvous/launch_place.h"
#include "runtime/rendezvous/meeting.h"

namespace mtc::runtime {

/// A descriptor that listens at MTC_MASTER_ADDR and MTC_MASTER_PORT, for rank 0
/// of the launcher that opened it.
inline constexpr const char *kListenVariable = "MTC_LISTEN_FD";

/// Begins MPI in one of two ways. Launchers of MPI bring what its ranks need to
/// find each other: there MPI comes first and says where the control channel's
/// ranks meet. All other launchers bring nothing: ranks meet at rank 0's
/// address, and MPI begins by what the control channel gathers (pmi.h).
class MpiStart {
public:
  MpiStart(const RunOptions &options, const LaunchPlace &place)
      : options_(options), place_(place) {}
  ~MpiStart();

  /// Before ranks meet; `meeting` then has the address. Errors: usage, when
  /// nobody knows it, or the library cannot begin here; those of loadMpi and of
  /// listenAt.
  Status before(MeetOptions &meeting);
  /// Once they have met.
  Status behind(Gather gather);
  const MpiEngine &engine() const { return *engine_; }
  /// Collective, behind the last message.
  void finalize();

private:
  Status choose();
  Status initialize();
  Status shareAddress(MeetOptions &meeting);
  Status findAddress(MeetOptions &meeting);

  const RunOptions &options_;
  const LaunchPlace &place_;
  const MpiLibrary *library_ = nullptr;
  const MpiEngine *engine_ = nullptr;
  bool native_ = false; ///< the launcher brings what MPI needs
  int listenFd_ = -1;
  std::unique_ptr<PmiServer> pmi_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_MPI_START_H
