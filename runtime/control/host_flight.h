//===- host_flight.h - records of ranks that no launcher keeps --*- C++ -*-===//
//
// Ranks that any launcher started share what they note with those of their
// host, so that of one that was killed or stopped another one can say what it
// did last. Each writes the record of its own.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CONTROL_HOST_FLIGHT_H
#define MTC_RUNTIME_CONTROL_HOST_FLIGHT_H

#include "runtime/control/bundle.h"
#include "runtime/control/flight_memory.h"
#include "runtime/rendezvous/channel.h"
#include "runtime/rendezvous/launch_place.h"

namespace mtc::runtime {

class HostFlight {
public:
  /// Collective over all ranks. Without `shares` each notes for itself. Errors:
  /// those of gathering and of FlightMemory.
  Status join(const LaunchPlace &place, bool shares, ControlChannel &channel);
  /// Of this rank; null before join().
  FlightRing *ring(int rank) const { return memory_.ring(rank); }
  /// How many ranks of its host, or of those that share with nobody, are before
  /// it.
  int localRank(int rank) const;

  /// Writes what `rank`, this one, did last into `folder`, and of the one that
  /// the channel lost, if that is of its host; of one that was alone on its
  /// host and is silent, that it is. Says so in `status`, or why not.
  Status write(const Status &status, int rank, const Bundle &bundle,
               const ControlChannel &channel, const std::string &folder) const;

private:
  struct Peer {
    std::string key; ///< of its host
    int pid = 0, descriptor = -1;
  };
  bool isAlone(int rank) const;
  bool writesOf(int lost, int rank, const ControlChannel &channel) const;
  static Status read(const std::vector<std::string> &all,
                     std::vector<Peer> &peers);

  FlightMemory memory_;
  std::vector<int> pids_;         ///< by rank; 0: of another host
  std::vector<std::string> keys_; ///< by rank; empty: shares with nobody
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_HOST_FLIGHT_H
