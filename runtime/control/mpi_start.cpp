//===- mpi_start.cpp - MPI begins, and where ranks meet -------------------===//

#include "runtime/control/mpi_start.h"

#include "runtime/comm/mpi/wire.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace mtc::runtime {
namespace {

constexpr const char *kLoopback = "127.0.0.1";
/// "PORT HOST HOST ...", as rank 0 sends it.
constexpr size_t kAddressBytes = 512;

/// Addresses by which other hosts may reach this one, at least one.
std::vector<std::string> addressesOfHost() {
  char name[NI_MAXHOST] = "";
  std::vector<std::string> found;
  ifaddrs *all = nullptr;
  if (getifaddrs(&all) != 0)
    return {kLoopback};
  for (const ifaddrs *at = all; at; at = at->ifa_next)
    if (at->ifa_addr && at->ifa_addr->sa_family == AF_INET &&
        (at->ifa_flags & IFF_UP) && !(at->ifa_flags & IFF_LOOPBACK) &&
        getnameinfo(at->ifa_addr, sizeof(sockaddr_in), name, sizeof name,
                    nullptr, 0, NI_NUMERICHOST) == 0)
      found.emplace_back(name);
  freeifaddrs(all);
  return found.empty() ? std::vector<std::string>{kLoopback} : found;
}

/// As many of them as there is room for.
std::string packPlace(const MeetOptions &meeting) {
  std::string text = fmt::format("{} {}", meeting.port, meeting.address);
  for (const std::string &other : meeting.others)
    if (text.size() + 1 + other.size() < kAddressBytes)
      text += " " + other;
  return text;
}

bool readPlace(const std::string &text, MeetOptions &meeting) {
  std::istringstream words(text);
  meeting.others.clear();
  if (!(words >> meeting.port >> meeting.address))
    return false;
  for (std::string other; words >> other;)
    meeting.others.push_back(other);
  return true;
}

/// The library whose launcher started this rank; empty: that starts any.
std::string_view ownLibrary(const LaunchPlace &place) {
  return place.family == "Open MPI" ? "openmpi" : "";
}

/// The launcher of this process brings what the library needs.
bool isBrought(const MpiLibrary &library) {
  Environment environment = processEnvironment();
  if (library.name == "openmpi")
    return environment("OMPI_COMM_WORLD_RANK") || environment("PMIX_RANK");
  return environment("PMI_FD") || environment("PMI_PORT");
}

} // namespace

MpiStart::~MpiStart() {
  if (listenFd_ >= 0)
    close(listenFd_);
}

Status MpiStart::choose() {
  std::string name = options_.mpi;
  if (name.empty())
    name = ownLibrary(place_) == "openmpi" ? "openmpi" : "mpich";
  library_ = mpiLibraryNamed(name);
  if (!library_)
    return {StatusCode::usage,
            fmt::format("--mpi: expected mpich or openmpi, found '{}'", name)};
  native_ = isBrought(*library_);
  if (!native_ && library_->name == "openmpi")
    return {StatusCode::usage,
            fmt::format("{} starts its own library only: expected its mpirun, "
                        "or srun --mpi=pmix; or take --mpi mpich, which starts "
                        "anywhere",
                        library_->title)};
  return loadMpi(options_.mpiFolder, *library_, engine_);
}

Status MpiStart::initialize(const WaitLimit &limit) {
  struct Found {
    int rank = -1, world = 0;
  };
  auto found = std::make_shared<Found>();
  std::optional<int> error = calls_.call(
      [found, engine = engine_] {
        return engine->initialize(&found->rank, &found->world);
      },
      limit.time, limit.stop);
  if (!error && pmi_ && !pmi_->failure().ok())
    return pmi_->failure();
  if (!error && pmi_ && pmi_->gaveUp())
    return {StatusCode::failed,
            fmt::format("{} does not begin: it gave up, and its own message "
                        "says why; where it names a network device or a "
                        "transport, look at UCX_NET_DEVICES and UCX_TLS",
                        library_->title)};
  if (!error && limit.stop && limit.stop())
    return {StatusCode::interrupted, "stopped by a signal while MPI began"};
  if (!error)
    return {StatusCode::peerDied,
            fmt::format("{} did not begin within {:.0f} s: it waits for all {} "
                        "ranks, and one was not started or ended before; look "
                        "for its message, or wait longer (--rdzv-timeout)",
                        library_->title,
                        std::chrono::duration<double>(limit.time).count(),
                        place_.world)};
  if (*error != 0) {
    char text[512] = "";
    engine_->explain(*error, text, sizeof text);
    return {StatusCode::failed,
            fmt::format("{} does not begin: {}", library_->title, text)};
  }
  if (found->rank == place_.rank && found->world == place_.world)
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("{} says that this is rank {} of {}, {} that it is rank "
                      "{} of {}; start with the launcher of that library, or "
                      "name another one with --mpi",
                      library_->title, found->rank, found->world, place_.family,
                      place_.rank, place_.world)};
}

/// Rank 0 listens, and tells the others where, over MPI.
Status MpiStart::shareAddress(MeetOptions &meeting) {
  std::array<char, kAddressBytes> text{};
  if (place_.rank == 0) {
    meeting.address = place_.master;
    if (meeting.address.empty() && place_.onOneHost())
      meeting.address = kLoopback;
    if (meeting.address.empty()) {
      meeting.others = addressesOfHost();
      meeting.address = meeting.others.front();
      meeting.others.erase(meeting.others.begin());
    }
    MTC_RETURN_IF_ERROR(
        listenAt(meeting.others.empty() ? meeting.address : kAllAddresses,
                 place_.port, listenFd_));
    meeting.listenFd = listenFd_;
    meeting.port = portOf(listenFd_);
    packPlace(meeting).copy(text.data(), text.size() - 1);
  }
  comm::MpiWire wire(*engine_);
  comm::MpiBatch batch;
  auto bytes = int64_t(text.size());
  for (int to = 1; place_.rank == 0 && to < place_.world; ++to)
    MTC_RETURN_IF_ERROR(wire.send(text.data(), bytes, to, 0, batch));
  if (place_.rank != 0)
    MTC_RETURN_IF_ERROR(wire.receive(text.data(), bytes, 0, 0, batch));
  if (Status said = wire.await(batch, meeting.timeout, meeting.stop);
      !said.ok())
    return {said.code(),
            fmt::format("while rank 0 tells the others where it listens: {}",
                        said.message())};
  if (!readPlace(text.data(), meeting))
    return {StatusCode::internal, "rank 0 sent no address"};
  return Status::okay();
}

Status MpiStart::findAddress(MeetOptions &meeting) {
  meeting.address = place_.master;
  meeting.port = place_.port;
  if (meeting.address.empty() && place_.onOneHost())
    meeting.address = kLoopback;
  if (auto fd = processEnvironment()(kListenVariable); fd && place_.rank == 0)
    std::from_chars(fd->data(), fd->data() + fd->size(), meeting.listenFd);
  if (!meeting.address.empty() && meeting.port > 0)
    return Status::okay();
  std::string_view starts = ownLibrary(place_);
  return {StatusCode::usage,
          fmt::format("{} does not say where rank 0 is: expected --master "
                      "HOST:PORT, or MTC_MASTER_ADDR and MTC_MASTER_PORT{}",
                      place_.family,
                      starts.empty() || starts == library_->name
                          ? ""
                          : fmt::format("; or --mpi {}, which it starts, in "
                                        "place of {}",
                                        starts, library_->name))};
}

Status MpiStart::begin(const WaitLimit &limit) {
  MTC_RETURN_IF_ERROR(choose());
  return native_ ? initialize(limit) : Status::okay();
}

Status MpiStart::before(MeetOptions &meeting) {
  return native_ ? shareAddress(meeting) : findAddress(meeting);
}

Status MpiStart::behind(Gather gather, const std::atomic<bool> &stop) {
  // By the control channel, which knows who died: that ends the wait, and what
  // MPI asks in the meantime must be answered. A library that is about to begin
  // is not left alone for a signal.
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::hours kNone(24 * 365);
  constexpr std::chrono::seconds kPatience(5);
  if (native_)
    return Status::okay();
  MTC_RETURN_IF_ERROR(
      PmiServer::start(place_.rank, place_.world, std::move(gather), pmi_));
  std::optional<Clock::time_point> stopped;
  return initialize({kNone, [&] {
                       if (stop.load() && !stopped)
                         stopped = Clock::now();
                       return pmi_->isOver() ||
                              (stopped && Clock::now() > *stopped + kPatience);
                     }});
}

void MpiStart::finalize() {
  constexpr std::chrono::minutes kLong{1}; // all ranks are here already
  if (engine_)
    calls_.call([engine = engine_] { return engine->finalize(); }, kLong,
                [this] { return pmi_ && pmi_->isOver(); });
}

} // namespace mtc::runtime
