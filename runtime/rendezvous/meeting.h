//===- meeting.h - all ranks of a job find rank 0 ---------------*- C++ -*-===//
#ifndef MTC_RUNTIME_RENDEZVOUS_MEETING_H
#define MTC_RUNTIME_RENDEZVOUS_MEETING_H

#include "runtime/rendezvous/connection.h"
#include "runtime/rendezvous/hello.h"

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Where ranks meet, and for how long they wait for each other.
struct MeetOptions {
  std::string address = "127.0.0.1"; ///< of rank 0
  /// More addresses of it, which the others try in turn: not all of a host's
  /// are of networks that other hosts are in.
  std::vector<std::string> others;
  int port = 0;
  int listenFd =
      -1; ///< rank 0: a socket that listens already; stays the caller's
  std::string secret; ///< of the job
  std::chrono::milliseconds timeout{600'000};
  const std::atomic<bool> *stop =
      nullptr; ///< ends the wait; null: nothing does
};

/// Where that is, for people: "10.0.0.1 or 10.1.0.1, port 4000".
std::string placeOf(const MeetOptions &options);

/// Rank 0's part: waits for all others. Strangers, whatever they send or do not
/// send, are closed and hold nobody up. `links` are by rank, that of rank 0 is
/// closed, and `hosts` what ranks call theirs. Errors: communication, when a
/// rank is of another job; peerDied, with the names of the missing, after the
/// time; interrupted; usage, when rank 0 cannot listen. The others are told.
Status meetAsFirst(const Member &self, const MeetOptions &options,
                   std::vector<Connection> &links,
                   std::vector<std::string> &hosts);

/// The part of the others: connects, again and again until rank 0 listens, and
/// waits until all are there. Errors: communication, peerDied, interrupted, as
/// above; usage.
Status meetFirst(const Member &self, const MeetOptions &options,
                 Connection &link);

/// Numbers as people read them: "1, 4 to 7".
std::string rankList(const std::vector<int> &ranks);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_RENDEZVOUS_MEETING_H
