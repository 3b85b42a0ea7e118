//===- host_flight.cpp - records of ranks that no launcher keeps ----------===//

#include "runtime/control/host_flight.h"

#include "runtime/comm/mpi/shared_host.h"
#include "runtime/control/flight_files.h"
#include "runtime/control/watchdog.h"
#include "runtime/rendezvous/frame.h"

#include <algorithm>
#include <unistd.h>

namespace mtc::runtime {

Status HostFlight::read(const std::vector<std::string> &all,
                        std::vector<Peer> &peers) {
  for (const std::string &said : all) {
    PayloadReader in(said);
    Peer peer;
    peer.key = in.text();
    peer.pid = int(in.number(4));
    peer.descriptor = int(in.number(4));
    if (!in.ended())
      return {StatusCode::internal, "a rank said nothing of what it notes"};
    peers.push_back(std::move(peer));
  }
  return Status::okay();
}

/// Each makes memory, which is nothing until it is written, and takes that of
/// the first rank of its host.
Status HostFlight::join(const LaunchPlace &place, bool shares,
                        ControlChannel &channel) {
  MTC_RETURN_IF_ERROR(FlightMemory::create(place.world, memory_));
  std::vector<std::string> all;
  MTC_RETURN_IF_ERROR(
      channel.gather(PayloadWriter()
                         .text(shares ? hostKey() : "")
                         .number(uint64_t(getpid()), 4)
                         .number(uint64_t(memory_.descriptor()), 4)
                         .str(),
                     all));
  std::vector<Peer> peers;
  MTC_RETURN_IF_ERROR(read(all, peers));
  pids_.resize(peers.size());
  const Peer &self = peers[size_t(place.rank)];
  auto isNear = [&](const Peer &peer) {
    return shares && peer.key == self.key;
  };
  for (size_t rank = 0; rank < peers.size(); ++rank)
    if (isNear(peers[rank]))
      pids_[rank] = peers[rank].pid;
  for (const Peer &peer : peers)
    keys_.push_back(peer.key);
  auto first = std::ranges::find_if(peers, isNear);
  if (first == peers.end() || first->pid == self.pid)
    return channel.gather("", all); // until all have opened it
  Status opened =
      FlightMemory::open(first->pid, first->descriptor, place.world, memory_);
  MTC_RETURN_IF_ERROR(channel.gather("", all));
  return opened;
}

int HostFlight::localRank(int rank) const {
  return int(
      std::count(keys_.begin(), keys_.begin() + rank, keys_[size_t(rank)]));
}

bool HostFlight::isAlone(int rank) const {
  return keys_[size_t(rank)].empty() ||
         std::ranges::count(keys_, keys_[size_t(rank)]) == 1;
}

/// Of one that was alone, the first of the others says it.
bool HostFlight::writesOf(int lost, int rank,
                          const ControlChannel &channel) const {
  // A rank may be lost before all know each other.
  if (lost == rank || size_t(lost) >= pids_.size())
    return false;
  int first = lost == 0 ? 1 : 0;
  return pids_[size_t(lost)] > 0 ||
         (rank == first && isAlone(lost) && channel.isSilent(lost));
}

Status HostFlight::write(const Status &status, int rank, const Bundle &bundle,
                         const ControlChannel &channel,
                         const std::string &folder) const {
  if (!memory_.ring(rank))
    return status;
  std::vector<int> ranks{rank};
  if (std::optional<int> lost = channel.lost();
      lost && writesOf(*lost, rank, channel))
    ranks.push_back(*lost);
  std::vector<FlightRecord> records = takeRecords(memory_, bundle, ranks);
  for (FlightRecord &record : records) {
    record.ended = status.message();
    if (record.rank == rank)
      continue;
    int pid = pids_[size_t(record.rank)];
    bool died = status.code() == StatusCode::peerDied;
    record.stopped = pid > 0 && isStopped(pid);
    record.dead = !record.stopped && (died || pid == 0);
    if (!died && pid == 0)
      record.ended = "not heard any more";
  }
  return withRecords(status, std::move(records), {}, folder);
}

} // namespace mtc::runtime
