//===- mpi_start.cpp - MPI begins, and where ranks meet -------------------===//

#include "runtime/control/mpi_start.h"

#include "runtime/comm/mpi/wire.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace mtc::runtime {
namespace {

constexpr const char *kLoopback = "127.0.0.1";
/// "HOST PORT", as rank 0 sends it.
constexpr size_t kAddressBytes = 512;

/// An address by which other hosts reach this one; that of its own name first.
std::string addressOfHost() {
  char name[NI_MAXHOST] = "";
  ifaddrs *all = nullptr;
  if (getifaddrs(&all) != 0)
    return kLoopback;
  std::string found = kLoopback;
  for (const ifaddrs *at = all; at; at = at->ifa_next)
    if (at->ifa_addr && at->ifa_addr->sa_family == AF_INET &&
        (at->ifa_flags & IFF_UP) && !(at->ifa_flags & IFF_LOOPBACK) &&
        getnameinfo(at->ifa_addr, sizeof(sockaddr_in), name, sizeof name,
                    nullptr, 0, NI_NUMERICHOST) == 0) {
      found = name;
      break;
    }
  freeifaddrs(all);
  return found;
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
    name = place_.family == "Open MPI" ? "openmpi" : "mpich";
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

Status MpiStart::initialize() {
  int rank = -1, world = 0;
  if (int error = engine_->initialize(&rank, &world); error != 0) {
    char text[512] = "";
    engine_->explain(error, text, sizeof text);
    return {StatusCode::failed,
            fmt::format("{} does not begin: {}", library_->title, text)};
  }
  if (rank == place_.rank && world == place_.world)
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("{} says that this is rank {} of {}, {} that it is rank "
                      "{} of {}; is the launcher that of the library (--mpi)",
                      library_->title, rank, world, place_.family, place_.rank,
                      place_.world)};
}

/// Rank 0 listens, and tells the others where, over MPI.
Status MpiStart::shareAddress(MeetOptions &meeting) {
  std::array<char, kAddressBytes> text{};
  if (place_.rank == 0) {
    meeting.address = !place_.master.empty() ? place_.master
                      : place_.onOneHost()   ? kLoopback
                                             : addressOfHost();
    MTC_RETURN_IF_ERROR(listenAt(meeting.address, place_.port, listenFd_));
    meeting.listenFd = listenFd_;
    meeting.port = portOf(listenFd_);
    std::string said = fmt::format("{} {}", meeting.address, meeting.port);
    std::memcpy(text.data(), said.data(), std::min(said.size(), text.size()));
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
  text.back() = '\0';
  const char *space = std::strchr(text.data(), ' ');
  if (!space)
    return {StatusCode::internal, "rank 0 sent no address"};
  meeting.address.assign(text.data(), size_t(space - text.data()));
  std::from_chars(space + 1, text.data() + std::strlen(text.data()),
                  meeting.port);
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
  return {StatusCode::usage,
          fmt::format("{} does not say where rank 0 is: expected --master "
                      "HOST:PORT, or MTC_MASTER_ADDR and MTC_MASTER_PORT",
                      place_.family)};
}

Status MpiStart::before(MeetOptions &meeting) {
  MTC_RETURN_IF_ERROR(choose());
  if (!native_)
    return findAddress(meeting);
  MTC_RETURN_IF_ERROR(initialize());
  return shareAddress(meeting);
}

Status MpiStart::behind(Gather gather) {
  if (native_)
    return Status::okay();
  MTC_RETURN_IF_ERROR(
      PmiServer::start(place_.rank, place_.world, std::move(gather), pmi_));
  return initialize();
}

void MpiStart::finalize() {
  if (engine_)
    engine_->finalize();
}

} // namespace mtc::runtime
